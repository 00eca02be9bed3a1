// SPDX-License-Identifier: BSL-1.0
// completion::automatic: both modes are measured on the actual device, the faster one is taken, either can be forced.
#include <cmdq/completion/automatic.hpp>

#include "support/asked.hpp"
#include "support/one_thread.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

struct either : one_thread_config {
  using completion = cmdq::completion::automatic;
};
using model_type = one_thread<either>::device_type;

/// The modelled device, where reading CONS and answering by MSI take the times given.
struct priced {
  model_type& device;
  ring_entry<counted_time>* entries;
  std::uint64_t cons_ns = 0;
  std::uint64_t msi_ns = 0;
  unsigned by_msi = 0, by_cons = 0;

  void write_prod(std::uint32_t prod) {
    const command last = entries[(prod - 1) % (1U << one_thread<either>::log2_size)].get();
    const bool msi = opcode_of(last.word[0]) == opcode_sync && (last.word[0] >> 12 & 3) == 1;
    ++(msi ? by_msi : by_cons);
    if (msi) counted_time::now += msi_ns;
    device.write_prod(prod);
  }
  std::uint32_t read_cons() {
    counted_time::now += cons_ns;
    return device.read_cons();
  }
  [[nodiscard]] std::uint32_t read_gerror() const { return device.read_gerror(); }
  [[nodiscard]] std::uint32_t read_gerrorn() const { return device.read_gerrorn(); }
  void write_gerrorn(std::uint32_t v) { device.write_gerrorn(v); }
};

struct bench {
  std::vector<command> executed;
  model::capabilities caps;
  fixed_memory<counted_time, one_thread<either>::log2_size, 4> memory;
  model_type device{model::device_drive::in_write, caps, [this] {
                      executed_commands h;
                      h.to = &executed;
                      return h;
                    }()};
  priced front{device, memory.memory().entries};
  std::unique_ptr<command_queue<priced, either>> queue;
  command_queue<priced, either>::producer me;

  /// `ask`: the options are what the identification registers allow. `address`: of the ring, as the device sees it.
  bench(std::uint64_t cons_ns, std::uint64_t msi_ns, const model::capabilities& c = {}, bool ask = false,
        std::uint64_t address = 0x10000)
      : caps(c) {
    front.cons_ns = cons_ns;
    front.msi_ns = msi_ns;
    CMDQ_CHECK_EQ(device.attach(front.entries, one_thread<either>::log2_size, address), status::ok);
    options o{.log2_size = one_thread<either>::log2_size, .batch_limit = 4, .producers = 1};
    if (ask) o = smmuv3::fit(o, asked(c));
    const auto p = make_plan<either>(o, memory.at_device_address(address));
    CMDQ_CHECK(p.ok());
    queue = std::make_unique<command_queue<priced, either>>(*p, front);
    CMDQ_CHECK_EQ(queue->attach(me), status::ok);
  }
  /// True when a list is answered by MSI.
  bool answers_by_msi() {
    const unsigned before = front.by_msi;
    const command c = numbered(1);
    CMDQ_CHECK(me.issue(&c, 1).ok());
    return front.by_msi != before;
  }
};

}  // namespace

CMDQ_TEST(automatic_starts_with_cons_and_can_be_forced) {
  bench b(10, 10);
  CMDQ_CHECK(!b.answers_by_msi());
  CMDQ_CHECK_EQ(b.queue->completion().use_msi(true), status::ok);
  CMDQ_CHECK(b.answers_by_msi());
  CMDQ_CHECK_EQ(b.queue->completion().use_msi(false), status::ok);
  CMDQ_CHECK(!b.answers_by_msi());
}

CMDQ_TEST(automatic_takes_the_faster_one) {
  for (const bool msi_is_faster : {true, false}) {
    bench b(msi_is_faster ? 5000 : 10, msi_is_faster ? 10 : 5000);
    const completion::measured m = completion::choose_completion(*b.queue, b.me, 20);
    CMDQ_CHECK(m.cons_code == status::ok && m.msi_code == status::ok);
    CMDQ_CHECK_EQ(b.front.by_msi, 20U);
    CMDQ_CHECK_EQ(b.front.by_cons, 20U);
    CMDQ_CHECK_EQ(m.msi_ns < m.cons_ns, msi_is_faster);
    CMDQ_CHECK_EQ(b.answers_by_msi(), msi_is_faster);
  }
}

// An MSI that is never written: the mode is measured with all its waiting, or not usable, and not taken.
CMDQ_TEST(automatic_does_not_take_a_mode_that_does_not_work) {
  bench b(100, 0);
  b.device.plan.failing_msis = model::for_ever;
  completion::choose_completion(*b.queue, b.me);
  CMDQ_CHECK(!b.answers_by_msi());
}

// A device without MSIs, one that is not coherent, a ring where the device sends none: no time-out, and none to come.
CMDQ_TEST(r14_automatic_stays_with_cons_where_no_msi_can_come) {
  model::capabilities no_msi, not_coherent, guest;
  no_msi.msi = false;
  not_coherent.cohacc = false;
  guest.part.sync_cs0_only = true;
  const struct {
    const model::capabilities& caps;
    std::uint64_t address;
  } cases[] = {{no_msi, 0x10000}, {not_coherent, 0x10000}, {guest, 0x10000}, {{}, 0}};
  for (const auto& [caps, address] : cases) {
    bench b(10, 1, caps, true, address);
    const std::uint64_t began = counted_time::now;
    completion::choose_completion(*b.queue, b.me);
    CMDQ_CHECK(counted_time::now - began < 1'000'000);  // the deadline is 1 s
    CMDQ_CHECK_EQ(b.front.by_msi, 0U);
    for (int i = 0; i < 100; ++i) CMDQ_CHECK(!b.answers_by_msi());
  }
}

CMDQ_TEST(r14_msis_are_refused_where_none_can_come) {
  model::capabilities caps;
  caps.msi = false;
  bench b(10, 1, caps, true);
  CMDQ_CHECK(!b.queue->completion().can_use_msi());
  CMDQ_CHECK_EQ(b.queue->completion().use_msi(true), status::invalid_argument);
  CMDQ_CHECK_EQ(completion::choose_completion(*b.queue, b.me).msi_code, status::invalid_argument);
  CMDQ_CHECK(!b.answers_by_msi());
}

CMDQ_TEST(automatic_starts_by_the_published_rule) {
  model::capabilities hi16xx;
  hi16xx.part = smmuv3::find_quirk("hi16xx_msi")->flags;
  CMDQ_CHECK(bench(10, 10, {}, true).answers_by_msi());
  CMDQ_CHECK(!bench(10, 10, hi16xx, true).answers_by_msi());
  bench b(10, 10, hi16xx, true);
  CMDQ_CHECK_EQ(b.queue->completion().use_msi(true), status::ok);
  CMDQ_CHECK(b.answers_by_msi());
}

// SPDX-License-Identifier: BSL-1.0
// What one caller is told when producers come and go, calls are cut short, or a mode is changed: each was wrong once.
#include <cmdq/completion/automatic.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/queue/batch.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>

#include <memory>
#include <optional>
#include <utility>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

constexpr command legal{{0x12, 0}}, illegal{{0xee, 0}}, atc{{opcode_atc_inv, 0}};

/// Time passes while somebody looks at it.
struct ticking_hooks : platform::default_hooks {
  static inline std::uint64_t now = 0;
  static std::uint64_t now_ns() { return now += 1000; }
};
using P = platform::builtins_with<ticking_hooks>;

template <class Allocation, class Completion = completion::poll_cons>
struct config : freestanding_config {
  using platform = P;
  using allocation = Allocation;
  using completion = Completion;
};

/// Consumes in the PROD write, as often as it may; MSIs come then, and CMDQ_CONS some reads later.
struct small_device {
  ring_entry<P>* entries = nullptr;
  std::uint32_t writes_left = ~0U;
  std::uint32_t reads_behind = 0;
  std::uint32_t lost_msis = 0;  ///< so many are not written, and nothing says so
  std::uint32_t prod = 0, cons = 0, behind = 0;
  void write_prod(std::uint32_t v) {
    prod = v;
    if (writes_left == 0) return;
    --writes_left;
    behind = reads_behind;
    if (behind == 0) cons = v;
    if (entries == nullptr) return;
    auto& word = entries[(v - 1) & 0xff].word0;
    const std::uint64_t last = word.load(at<site::entry_word0>);
    if (is_msi_sync(last) && lost_msis != 0) {
      --lost_msis;
    } else if (is_msi_sync(last))
      word.store(last & ~0xffffffffULL, at<site::entry_word0>);
  }
  std::uint32_t read_cons() {
    if (behind != 0 && --behind == 0) cons = prod;
    return cons;
  }
  static std::uint32_t read_gerror() { return 0; }
  static std::uint32_t read_gerrorn() { return 0; }
  static void write_gerrorn(std::uint32_t) {}
};

template <class Config, class Device>
struct bench {
  explicit bench(Device& d, options o) : queue(planned(o, memory->memory()), d) {
    CMDQ_CHECK_EQ(queue.attach(me), status::ok);
  }
  static plan<P> planned(options o, const ring_memory<P>& m) {
    o.log2_size = 8;
    const auto p = make_plan<Config>(o, m);
    CMDQ_CHECK(p.ok());
    return *p;
  }
  std::unique_ptr<fixed_memory<P, 8, 2>> memory = std::make_unique<fixed_memory<P, 8, 2>>();
  command_queue<Device, Config> queue;
  typename command_queue<Device, Config>::producer me;
};

template <class F>
void with_each_strategy(F f) {
  f(allocation::cmpxchg_loop{});
  f(allocation::owner_bits{});
  f(allocation::combining{});
}

using hardware = model::hardware<P, ring_entry<P>>;

/// One producer on a modelled device of the given abilities.
template <class Allocation>
struct modelled {
  explicit modelled(const model::capabilities& caps = {}) : device(model::device_drive::in_write, caps) {
    const auto ring = memory->memory();
    CMDQ_CHECK_EQ(device.attach(ring.entries, 8, ring.device_address), status::ok);
    queue.emplace(*make_plan<config<Allocation>>({.log2_size = 8, .batch_limit = 16, .producers = 2}, ring), device);
  }
  using queue_type = command_queue<hardware, config<Allocation>>;
  std::unique_ptr<fixed_memory<P, 8, 2>> memory = std::make_unique<fixed_memory<P, 8, 2>>();
  hardware device;
  std::optional<queue_type> queue;
};

}  // namespace

CMDQ_TEST(an_error_nobody_asked_for_does_not_hide_the_next_producers) {
  with_each_strategy([](auto allocation) {
    modelled<decltype(allocation)> m;
    {
      typename decltype(m)::queue_type::producer first;
      CMDQ_CHECK_EQ(m.queue->attach(first), status::ok);
      CMDQ_CHECK_EQ(first.insert(&illegal, 1).code, status::ok);
    }
    typename decltype(m)::queue_type::producer next;
    CMDQ_CHECK_EQ(m.queue->attach(next), status::ok);
    CMDQ_CHECK_EQ(next.issue(&illegal, 1).code, status::illegal_command);
    CMDQ_CHECK_EQ(next.issue(&legal, 1).code, status::ok);
  });
}

CMDQ_TEST(a_refused_sync_is_told_to_whose_ticket_it_is) {
  with_each_strategy([](auto allocation) {
    model::capabilities caps;
    caps.part.sync_cs0_only = true;
    modelled<decltype(allocation)> m(caps);
    typename decltype(m)::queue_type::producer me;
    CMDQ_CHECK_EQ(m.queue->attach(me), status::ok);
    for (const std::uint32_t n : {1U, 0U}) {
      const auto t = me.submit(&legal, n);
      CMDQ_CHECK_EQ(t.code(), status::ok);
      status s = status::would_block;
      while (s == status::would_block) s = me.poll(*t);
      CMDQ_CHECK_EQ(s, status::illegal_command);
    }
  });
}

CMDQ_TEST(a_repeated_list_cut_short_is_counted_once) {
  small_device d;
  d.writes_left = 1;
  bench<config<allocation::combining>, small_device> b(
      d, {.batch_limit = 16, .producers = 2, .deadline_ns = 100'000, .repeat_invalidations = true});
  batch<decltype(b.queue), 8> list(b.me);
  for (int i = 0; i < 4; ++i) CMDQ_CHECK_EQ(list.add(legal), status::ok);
  const outcome o = list.finish();
  CMDQ_CHECK_EQ(o.code, status::timeout);
  CMDQ_CHECK_EQ(o.inserted, 4U);
  CMDQ_CHECK_EQ(list.gathered(), 0U);
}

CMDQ_TEST(cons_may_still_trail_after_a_switch_from_msi) {
  with_each_strategy([](auto allocation) {
    small_device d;
    d.reads_behind = 3;
    bench<config<decltype(allocation), completion::automatic>, small_device> b(d, {.batch_limit = 16, .producers = 2});
    d.entries = b.memory->memory().entries;
    const auto took = completion::choose_completion(b.queue, b.me, 4);
    CMDQ_CHECK_EQ(took.cons_code, status::ok);
    CMDQ_CHECK_EQ(took.msi_code, status::ok);
    b.queue.completion().use_msi(true);
    CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::ok);
    b.queue.completion().use_msi(false);
    for (int i = 0; i < 3; ++i) CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::ok);
  });
}

CMDQ_TEST(a_moved_writer_keeps_its_class) {
  small_device d;
  bench<config<allocation::combining>, small_device> b(d, {.batch_limit = 16, .producers = 2});
  auto first = b.me.reserve(3, true);
  CMDQ_CHECK_EQ(first.push(atc), status::ok);
  auto moved = std::move(first);
  CMDQ_CHECK_EQ(moved.push(legal), status::invalid_argument);
  CMDQ_CHECK_EQ(moved.push(atc), status::ok);
  CMDQ_CHECK_EQ(moved.commit(), status::ok);
}

// A writer that is open when its producer is moved goes on with the new one.
CMDQ_TEST(r11_a_writer_commits_on_the_producer_that_it_was_moved_to) {
  with_each_strategy([](auto strategy) {
    small_device device;
    bench<config<decltype(strategy)>, small_device> b(device, {.batch_limit = 16, .producers = 2});
    auto w = b.me.reserve(2, true);
    CMDQ_CHECK_EQ(w.push(legal), status::ok);
    auto moved = std::move(b.me);
    CMDQ_CHECK_EQ(moved.issue(&legal, 1).code, status::busy);
    CMDQ_CHECK_EQ(w.push(legal), status::ok);
    CMDQ_CHECK_EQ(w.commit(), status::ok);
    CMDQ_CHECK_EQ(moved.issue(&legal, 1).code, status::ok);
  });
}

// One MSI that is lost without a word costs one caller its deadline, and nobody else anything.
CMDQ_TEST(r13_a_lost_msi_costs_one_time_out) {
  with_each_strategy([](auto strategy) {
    small_device device;
    bench<config<decltype(strategy), completion::poll_msi>, small_device> b(
        device, {.batch_limit = 16, .producers = 2, .deadline_ns = 1'000'000});
    device.entries = b.memory->memory().entries;
    typename decltype(b.queue)::producer other;
    CMDQ_CHECK_EQ(b.queue.attach(other), status::ok);
    CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::ok);
    device.lost_msis = 1;
    CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::timeout);
    CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::ok);
    device.lost_msis = 1;
    CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::timeout);
    for (int i = 0; i < 300; ++i) CMDQ_CHECK_EQ(other.issue(&legal, 1).code, status::ok);
    CMDQ_CHECK_EQ(b.me.issue(&legal, 1).code, status::ok);
    CMDQ_CHECK_EQ(b.queue.recover(), status::ok);
  });
}

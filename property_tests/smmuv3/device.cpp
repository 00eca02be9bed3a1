// SPDX-License-Identifier: BSL-1.0
// The device driver against a register block that answers late, wrongly or not at all.
#include <cmdq/platform/builtins.hpp>
#include <cmdq/smmuv3/device.hpp>

#include <support/test.hpp>

#include <map>
#include <utility>
#include <vector>

namespace {

using cmdq::status;
namespace offset = cmdq::smmuv3::registers::offset;

struct ticking : cmdq::platform::default_hooks {
  static inline std::uint64_t now = 0;
  static std::uint64_t now_ns() noexcept { return now += 10; }
};
using platform = cmdq::platform::builtins_with<ticking>;

struct block {
  std::map<std::uint32_t, std::uint32_t> values{{offset::idr0, 0x0d40101aU}, {offset::idr1, 0x02730010U},
                                                {offset::idr3, 0x1404U},     {offset::idr5, 0x74U},
                                                {offset::iidr, 0},           {offset::cr0ack, 0x5}};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> writes;
  unsigned late_polls = 0;  ///< reads of CR0ACK before it follows CR0
  bool answers = true;
  unsigned late_gbpa = 0;  ///< reads of GBPA before UPDATE falls
  unsigned polls = 0;
  unsigned barriers = 0;
  unsigned barriers_at_prod = 0;
};

struct fake_registers {
  block* b;
  std::uint32_t read32(std::uint32_t at) const {
    if (at == offset::cr0ack && b->answers && ++b->polls > b->late_polls) b->values[at] = b->values[offset::cr0];
    if (at == offset::gbpa && b->late_gbpa == 0) b->values[at] &= 0x7fffffffU;
    if (at == offset::gbpa && b->late_gbpa != 0) --b->late_gbpa;
    return b->values[at];
  }
  void write32(std::uint32_t at, std::uint32_t v) const {
    if (at == offset::cr0) b->polls = 0;
    if (at == offset::cmdq_prod) b->barriers_at_prod = b->barriers;
    b->values[at] = v;
    b->writes.emplace_back(at, v);
  }
  void write64(std::uint32_t at, std::uint64_t v) const { b->writes.emplace_back(at, v); }
};

struct counted_barriers {
  static inline block* b = nullptr;
  static void before_write() noexcept {
    if (b != nullptr) ++b->barriers;
  }
  static void after_read() noexcept {
    if (b != nullptr) ++b->barriers;
  }
};

using device = cmdq::smmuv3::device<fake_registers, counted_barriers>;

const cmdq::smmuv3::setup usual{.queue_base = 0x40000, .queue_log2 = 8, .first = 0xffffff00U, .timeout_ns = 1000};

cmdq::refusal refused(block& b, const cmdq::smmuv3::setup& s = usual) {
  return device({&b}).bring_up<platform>(s).why();
}

void check_refused(block& b, status code, const std::string& what, std::uint64_t value, std::uint64_t limit,
                   const cmdq::smmuv3::setup& s = usual) {
  const cmdq::refusal why = refused(b, s);
  CMDQ_CHECK_EQ(why.code, code);
  CMDQ_CHECK_EQ(std::string(why.field), what);
  CMDQ_CHECK_EQ(why.value, value);
  CMDQ_CHECK_EQ(why.limit, limit);
}

}  // namespace

CMDQ_TEST(device_bring_up_writes_in_order_and_waits_for_each_acknowledgement) {
  block b;
  b.late_polls = 7;
  b.values[offset::gerror] = 0x9;
  const auto up = device({&b}).bring_up<platform>(usual);
  CMDQ_CHECK(up.ok());
  CMDQ_CHECK(up->range && !up->event_signal && up->coherent);
  CMDQ_CHECK_EQ(up->max_log2_size, 19U);
  CMDQ_CHECK_EQ(up->output_bits, 44U);
  const std::vector<std::pair<std::uint32_t, std::uint64_t>> wanted{
      {offset::cr0, 0},           {offset::cr1, 0xd75},
      {offset::cr2, 6},           {offset::cmdq_base, 1ULL << 62 | 0x40008},
      {offset::cmdq_prod, 0x100}, {offset::cmdq_cons, 0x100},
      {offset::gerrorn, 9},       {offset::cr0, 8}};
  CMDQ_CHECK(b.writes == wanted);
}

CMDQ_TEST(device_taken_over_keeps_translating) {
  block b;
  b.values[offset::cr0] = b.values[offset::cr0ack] = 0x1f;  // translating, with all its queues
  cmdq::smmuv3::setup s = usual;
  s.before = cmdq::smmuv3::takeover::keep;
  CMDQ_CHECK(device({&b}).bring_up<platform>(s).ok());
  for (const auto& [at, v] : b.writes) {
    CMDQ_CHECK(at != offset::cr1 && at != offset::cr2 && at != offset::gbpa);
    if (at == offset::cr0) CMDQ_CHECK_EQ(v & 0x17, 0x17U);  // never off, not even for a moment
  }
  CMDQ_CHECK_EQ(b.values[offset::cr0], 0x1fU);
  CMDQ_CHECK_EQ(b.writes.front().second, 0x17U);  // the queue stops before its base changes
}

CMDQ_TEST(device_stopped_before_takeover_lets_nothing_pass) {
  block b;
  b.values[offset::cr0] = b.values[offset::cr0ack] = 0x9;
  b.values[offset::gbpa] = 0x80000123U;  // somebody's update is under way
  b.late_gbpa = 3;
  cmdq::smmuv3::setup s = usual;
  s.before = cmdq::smmuv3::takeover::stop;
  CMDQ_CHECK(device({&b}).bring_up<platform>(s).ok());
  CMDQ_CHECK((b.writes[0] == std::pair<std::uint32_t, std::uint64_t>{offset::gbpa, 0x80100123U}));
  CMDQ_CHECK((b.writes[1] == std::pair<std::uint32_t, std::uint64_t>{offset::cr0, 0}));
  CMDQ_CHECK_EQ(b.values[offset::gbpa], 0x00100123U);
  CMDQ_CHECK_EQ(b.values[offset::cr0], 8U);
  block stuck;
  stuck.values[offset::gbpa] = 0x80000000U;
  stuck.late_gbpa = ~0U;
  check_refused(stuck, status::timeout, "GBPA", 0x80000000U, 0, s);
  CMDQ_CHECK(stuck.writes.empty());
  block gone;
  gone.values[offset::gbpa] = 0xffffffffU;
  gone.late_gbpa = ~0U;
  check_refused(gone, status::device_fault, "GBPA", 0xffffffffU, 0, s);
}

CMDQ_TEST(device_that_never_acknowledges_ends_in_a_timeout) {
  block b;
  b.answers = false;
  const std::uint64_t before = ticking::now;
  check_refused(b, status::timeout, "CR0ACK", 5, 0);
  CMDQ_CHECK(ticking::now - before < 2 * usual.timeout_ns);
  CMDQ_CHECK_EQ(b.writes.size(), std::size_t{1});
  CMDQ_CHECK_EQ(device({&b}).set_consuming<platform>(true, 1000), status::timeout);
}

CMDQ_TEST(device_one_budget_covers_both_acknowledgements) {
  block b;
  b.late_polls = 60;  // 600 ns each: one fits into the budget of 1000, two do not
  check_refused(b, status::timeout, "CR0ACK", 0, 8);
}

CMDQ_TEST(device_refuses_what_cannot_work_and_writes_nothing) {
  block gone;
  for (auto& v : gone.values) v.second = 0xffffffffU;
  check_refused(gone, status::device_fault, "IDR0", 0xffffffffU, 0);
  block preset;
  preset.values[offset::idr1] |= 1U << 29;
  check_refused(preset, status::device_fault, "IDR1.QUEUES_PRESET", 1, 0);
  block b;
  check_refused(b, status::out_of_range, "log2size", 1, 2, {.queue_log2 = 1});
  check_refused(b, status::out_of_range, "log2size", 20, 19, {.queue_log2 = 20});
  check_refused(b, status::misaligned, "address", 0x800, 0x1000, {.queue_base = 0x800, .queue_log2 = 8});
  check_refused(b, status::out_of_range, "address", 1ULL << 44, (1ULL << 44) - 1,
                {.queue_base = 1ULL << 44, .queue_log2 = 8});
  CMDQ_CHECK(gone.writes.empty() && preset.writes.empty() && b.writes.empty());
}

CMDQ_TEST(device_leaves_the_bus_while_it_is_brought_up) {
  block b;
  b.answers = false;
  b.values[offset::cr0ack] = 0xffffffffU;
  check_refused(b, status::device_fault, "CR0ACK", 0xffffffffU, 0);
}

CMDQ_TEST(device_barrier_comes_before_prod_and_after_cons) {
  block b;
  counted_barriers::b = &b;
  device d({&b});
  d.write_prod(1);
  CMDQ_CHECK_EQ(b.barriers_at_prod, 1U);
  CMDQ_CHECK_EQ(b.barriers, 1U);
  static_cast<void>(d.read_cons());
  CMDQ_CHECK_EQ(b.barriers, 2U);
  counted_barriers::b = nullptr;
}

CMDQ_TEST(device_tells_which_errors_are_active) {
  cmdq::test::property([](std::uint32_t error, std::uint32_t acknowledged) {
    block b;
    b.values[offset::gerror] = error;
    b.values[offset::gerrorn] = acknowledged;
    device d({&b});
    const std::uint32_t active = (error ^ acknowledged) & cmdq::gerror::mask;
    CMDQ_CHECK_EQ(d.active_errors(), active);
  });
}

CMDQ_TEST(device_stops_and_restarts_with_the_rest_of_cr0_kept) {
  block b;
  b.values[offset::cr0] = 0xd;
  device d({&b});
  CMDQ_CHECK_EQ(d.set_consuming<platform>(false, 1000), status::ok);
  CMDQ_CHECK_EQ(b.values[offset::cr0], 5U);
  CMDQ_CHECK_EQ(d.set_consuming<platform>(true, 1000), status::ok);
  CMDQ_CHECK_EQ(b.values[offset::cr0], 13U);
}

CMDQ_TEST(device_capabilities_fit_the_options) {
  using cmdq::sync_signal;
  const cmdq::options wanted{.log2_size = 19, .batch_limit = 64, .signal = sync_signal::event};
  const auto with = [&](std::uint32_t idr0, std::uint32_t idr1, std::uint32_t iidr) {
    return cmdq::smmuv3::fit(wanted, cmdq::smmuv3::decode_capabilities(idr0, idr1, 0, 0, iidr));
  };
  const std::uint32_t sev = 1U << 14;
  const std::uint32_t cmdqs16 = 16U << 21;
  CMDQ_CHECK_EQ(with(sev, cmdqs16, 0).log2_size, 16U);
  CMDQ_CHECK_EQ(with(sev, cmdqs16, 0).signal, sync_signal::event);
  CMDQ_CHECK_EQ(with(0, cmdqs16, 0).signal, sync_signal::none);
  CMDQ_CHECK_EQ(with(sev, cmdqs16, 0x4830043b).signal, sync_signal::none);  // MMU-600 r0p0
  CMDQ_CHECK_EQ(with(sev, cmdqs16, 0x4870043b).batch_limit, 63U);           // MMU-700
  CMDQ_CHECK(with(sev, cmdqs16, 0x4870043b).sync_every_batch);
  CMDQ_CHECK(!with(sev, cmdqs16, 0).sync_every_batch);
}

// SPDX-License-Identifier: BSL-1.0
// What make_plan() refuses, and attach() beyond its limit.
#include <cmdq/allocation/owner_bits.hpp>
#include <cmdq/queue/config.hpp>
#include <utility>

#include "cases.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
void check_refusal(const refusal& r, status code, const char* field, std::uint64_t value, std::uint64_t limit) {
  CMDQ_CHECK_EQ(r.code, code);
  CMDQ_CHECK_EQ(std::string(r.field), field);
  CMDQ_CHECK_EQ(r.value, value);
  CMDQ_CHECK_EQ(r.limit, limit);
}
}  // namespace

CMDQ_TEST(bug_L11_producers_times_longest_list_must_fit) {
  rig r(small_ring(strategy::cmpxchg_loop, 3, 3, 1));
  for (const strategy which : {strategy::owner_bits, strategy::combining}) {
    check_refusal(check_plan(small_ring(which, 3, 3, 3), r.memory()), status::ring_too_small,
                  "producers x longest list", 12, 8);
    CMDQ_CHECK_EQ(check_plan(small_ring(which, 3, 3, 2), r.memory()).code, status::ok);
  }
  CMDQ_CHECK_EQ(check_plan(small_ring(strategy::cmpxchg_loop, 3, 3, 3), r.memory()).code, status::ok);
}

CMDQ_TEST(bug_L17_longest_list_with_its_sync_must_fit) {
  rig r(small_ring(strategy::cmpxchg_loop, 6, 3, 1));
  for (const strategy which : all_strategies) {
    check_refusal(check_plan(small_ring(which, 6, 64, 1), r.memory()), status::ring_too_small,
                  "producers x longest list", 65, 64);
    CMDQ_CHECK_EQ(check_plan(small_ring(which, 6, 63, 1), r.memory()).code, status::ok);
  }
}

CMDQ_TEST(bug_L43_ring_must_be_aligned_to_its_size) {
  rig r(small_ring(strategy::cmpxchg_loop, 4, 3, 1));
  ring_memory<scheduled_platform> m = r.memory();
  for (const std::uint64_t offset : {16U, 64U, 128U}) {
    m.device_address = 0x40000000 + offset;
    check_refusal(check_plan(r.what, m), status::misaligned, "device_address", m.device_address, 256);
  }
  m.device_address = 0x40000000 + 256;
  CMDQ_CHECK_EQ(check_plan(r.what, m).code, status::ok);
}

CMDQ_TEST(r15_no_ring_at_device_address_0_with_msis) {
  for (const strategy which : all_strategies) {
    rig r(small_ring(which, 4, 3, 1));
    ring_memory<scheduled_platform> m = r.memory();
    m.device_address = 0;
    setup s = r.what;
    CMDQ_CHECK_EQ(check_plan(s, m).code, status::ok);
    s.msi = true;
    check_refusal(check_plan(s, m), status::out_of_range, "device_address", 0, 256);
    m.device_address = 256;
    CMDQ_CHECK_EQ(check_plan(s, m).code, status::ok);
  }
}

CMDQ_TEST(r16_device_address_within_52_bits) {
  rig r(small_ring(strategy::combining, 4, 3, 1));
  ring_memory<scheduled_platform> m = r.memory();
  constexpr std::uint64_t reach = 1ULL << 52;
  for (const std::uint64_t address : {reach, reach + 0x10000, ~std::uint64_t{0xff}}) {
    m.device_address = address;
    check_refusal(check_plan(r.what, m), status::out_of_range, "device_address", address, reach - 256);
  }
  m.device_address = reach - 256;
  CMDQ_CHECK_EQ(check_plan(r.what, m).code, status::ok);
}

CMDQ_TEST(r16_device_address_within_the_devices_output_size) {
  rig r(small_ring(strategy::combining, 4, 3, 1));
  ring_memory<scheduled_platform> m = r.memory();
  setup s = r.what;
  s.opts.device.output_bits = 40;
  m.device_address = 1ULL << 40;
  check_refusal(check_plan(s, m), status::out_of_range, "device_address", 1ULL << 40, (1ULL << 40) - 256);
  m.device_address = (1ULL << 40) - 256;
  CMDQ_CHECK_EQ(check_plan(s, m).code, status::ok);
}

CMDQ_TEST(r14_no_msis_without_the_device) {
  rig r(small_ring(strategy::combining, 4, 3, 1));
  const auto with = [&](bool msi, auto change) {
    setup s = r.what;
    s.msi = msi;
    change(s.opts.device);
    return check_plan(s, r.memory());
  };
  for (const bool msi : {false, true}) {
    CMDQ_CHECK_EQ(with(msi, [](device_limits&) {}).code, status::ok);
    const refusal no_msi = with(msi, [](device_limits& d) { d.msi = false; });
    const refusal not_coherent = with(msi, [](device_limits& d) { d.coherent = false; });
    if (msi) {
      check_refusal(no_msi, status::invalid_argument, "device.msi", 0, 1);
      check_refusal(not_coherent, status::invalid_argument, "device.coherent", 0, 1);
    } else {
      CMDQ_CHECK(no_msi.code == status::ok && not_coherent.code == status::ok);
    }
  }
}

CMDQ_TEST(limits_of_the_device_are_checked_themselves) {
  rig r(small_ring(strategy::combining, 4, 3, 1));
  const auto with = [&](auto change) {
    setup s = r.what;
    change(s.opts);
    return check_plan(s, r.memory());
  };
  check_refusal(with([](options& o) { o.device.output_bits = 53; }), status::out_of_range, "device.output_bits", 53,
                52);
  check_refusal(with([](options& o) { o.device.output_bits = 7; }), status::out_of_range, "device_address", 0x40000000,
                0);
  check_refusal(with([](options& o) { o.device.asid_bits = 17; }), status::out_of_range, "device.asid_bits", 17, 16);
  check_refusal(with([](options& o) { o.device.vmid_bits = 64; }), status::out_of_range, "device.vmid_bits", 64, 16);
  check_refusal(with([](options& o) { o.device.event = false; }), status::invalid_argument, "signal", 2, 0);
  check_refusal(with([](options& o) { o.device.opcodes.remove(opcode_sync); }), status::invalid_argument,
                "device.opcodes", opcode_sync, 0);
}

CMDQ_TEST(each_limit_is_named) {
  rig r(small_ring(strategy::combining, 5, 3, 1));
  const auto with = [&](auto change) {
    setup s = r.what;
    change(s.opts);
    return check_plan(s, r.memory());
  };
  check_refusal(with([](options& o) { o.log2_size = 1; }), status::out_of_range, "log2_size", 1, 2);
  check_refusal(with([](options& o) { o.log2_size = 20; }), status::out_of_range, "log2_size", 20, 19);
  check_refusal(with([](options& o) { o.batch_limit = 0; }), status::out_of_range, "batch_limit", 0, 1);
  check_refusal(with([](options& o) { o.batch_limit = 1025; }), status::out_of_range, "batch_limit", 1025, 1024);
  check_refusal(with([](options& o) { o.producers = 0; }), status::out_of_range, "producers", 0, 1);
  check_refusal(with([](options& o) { o.producers = 4097; }), status::out_of_range, "producers", 4097, 4096);
  CMDQ_CHECK_EQ(with([](options& o) { o.signal = sync_signal::msi; }).code, status::invalid_argument);
  CMDQ_CHECK_EQ(with([](options& o) {
                  o.sync_every_batch = true;
                  o.batch_limit = 1;
                }).code,
                status::out_of_range);
  ring_memory<scheduled_platform> none;
  CMDQ_CHECK_EQ(check_plan(r.what, none).code, status::invalid_argument);
}

CMDQ_TEST(groups_are_checked) {
  setup grouped = small_ring(strategy::combining, 5, 3, 1);
  grouped.opts.groups = 4;
  rig r(grouped);
  ring_memory<scheduled_platform> m = r.memory();
  const auto with = [&](strategy which, std::uint32_t groups, std::uint32_t cpus_per_group) {
    setup s = small_ring(which, 5, 3, 1);
    s.opts.groups = groups;
    s.opts.cpus_per_group = cpus_per_group;
    return check_plan(s, m);
  };
  for (const strategy which : all_strategies) {
    CMDQ_CHECK_EQ(with(which, automatic_groups, 1).code, status::ok);
    check_refusal(with(which, 65, 1), status::out_of_range, "groups", 65, 64);
    check_refusal(with(which, 1, 0), status::out_of_range, "cpus_per_group", 0, 1);
    CMDQ_CHECK_EQ(with(which, 1, 1).code, status::ok);
  }
  for (const strategy which : {strategy::cmpxchg_loop, strategy::owner_bits})
    check_refusal(with(which, 2, 1), status::out_of_range, "groups", 2, 1);
  CMDQ_CHECK_EQ(with(strategy::combining, 64, 1).code, status::ok);  // the room is not stated
  m.room_groups = 4;
  CMDQ_CHECK_EQ(with(strategy::combining, 4, 1).code, status::ok);
  check_refusal(with(strategy::combining, 5, 1), status::out_of_range, "groups", 5, 4);
  m.groups = nullptr;
  check_refusal(with(strategy::combining, 2, 1), status::invalid_argument, "groups", 0, 0);
  CMDQ_CHECK_EQ(with(strategy::combining, 1, 1).code, status::ok);
}

CMDQ_TEST(groups_need_a_platform_that_tells_cpus_apart) {
  struct nowhere : scheduled_platform {
    static void index() = delete;
  };
  struct config : freestanding_config {
    using platform = nowhere;
  };
  options o;
  o.groups = 2;
  check_refusal(detail::check_groups<config>(o, {}), status::out_of_range, "groups", 2, 1);
}

namespace {
struct counted : scheduled_platform {
  static inline std::uint32_t count = 0;
  static std::uint32_t cpus() { return count; }
};
struct gathers : freestanding_config {
  using platform = counted;
};
struct claims_alone : gathers {
  using allocation = cmdq::allocation::owner_bits;
};
struct uncounted : freestanding_config {
  using platform = scheduled_platform;
};
}  // namespace

CMDQ_TEST(groups_are_chosen_from_the_platforms_cpus) {
  const auto chosen = [](std::uint32_t cpus, std::uint32_t producers, std::uint32_t room) {
    counted::count = cpus;
    const options o = with_groups<gathers>({.producers = producers}, room);
    return std::pair{o.groups, o.groups == 1 ? 0 : o.cpus_per_group};
  };
  CMDQ_CHECK(chosen(128, 128, 6) == std::pair(4U, 32U));
  CMDQ_CHECK(chosen(95, 128, 6) == std::pair(6U, 16U));
  CMDQ_CHECK(chosen(16, 200, 6) == std::pair(6U, 3U));
  CMDQ_CHECK(chosen(33, 16, 64) == std::pair(6U, 6U));
  CMDQ_CHECK(chosen(15, 128, 6) == std::pair(1U, 0U));
  CMDQ_CHECK(chosen(128, 15, 6) == std::pair(1U, 0U));
  CMDQ_CHECK(chosen(64, 128, 5) == std::pair(1U, 0U));  // no room
  CMDQ_CHECK(chosen(0, 128, 6) == std::pair(1U, 0U));   // the platform cannot tell
  CMDQ_CHECK_EQ(with_groups<gathers>({.producers = 128, .groups = 2}, 0).groups, 2U);
  counted::count = 128;
  CMDQ_CHECK_EQ(with_groups<claims_alone>({.producers = 128}, 6).groups, 1U);
  CMDQ_CHECK_EQ(with_groups<uncounted>({.producers = 128}, 6).groups, 1U);
}

CMDQ_TEST(attach_counts_producers) {
  rig r(small_ring(strategy::combining, 5, 3, 2));
  CMDQ_CHECK_EQ(r->attach(0), status::ok);
  CMDQ_CHECK_EQ(r->attach(1), status::ok);
  rig other(small_ring(strategy::combining, 5, 3, 1));
  CMDQ_CHECK_EQ(other->attach(0), status::ok);
  r->detach(0);
  CMDQ_CHECK_EQ(r->attach(0), status::ok);
}

CMDQ_TEST(arguments_are_checked) {
  for_all_policies(5, 3, 1, [](const setup& what) {
    rig r(what);
    CMDQ_CHECK_EQ(r->attach(0), status::ok);
    const command sync = make_sync(sync_signal::none);
    const command t = make_command(kind::tlb, 0);
    const command mixed[] = {t, sync};
    CMDQ_CHECK_EQ(r->issue(0, nullptr, 1).code, status::invalid_argument);
    CMDQ_CHECK_EQ(r->issue(0, &sync, 1).code, status::invalid_argument);
    CMDQ_CHECK_EQ(r->issue(0, mixed, 2).inserted, 1U);
    CMDQ_CHECK_EQ(r->issue(0, mixed, 2).code, status::invalid_argument);
    const command long_list[] = {t, t, t, t};
    CMDQ_CHECK_EQ(r->submit(0, long_list, 4).code(), status::out_of_range);
    CMDQ_CHECK_EQ(r->submit(0, nullptr, 1).code(), status::invalid_argument);
  });
}

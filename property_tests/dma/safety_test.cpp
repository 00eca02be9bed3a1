// SPDX-License-Identifier: BSL-1.0
#include "dma/soak.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {

constexpr uint64_t mib = 1 << 20;
using rig = test::smmu_rig<default_config>;
constexpr device small_pages{true, {huge_pages::never, false}};

test::soak_result short_soak(uint32_t threads, bool lazy, uint64_t rounds) {
  test::soak s(threads, lazy);
  return s.run(std::chrono::steady_clock::now() + std::chrono::milliseconds(300), rounds,
               std::chrono::milliseconds(100));
}

void check_clean(const test::soak_result& r) {
  CMDQ_CHECK_EQ(r.refused, 0U);
  CMDQ_CHECK_EQ(r.full, 0U);
  CMDQ_CHECK_EQ(r.stale, 0U);
  CMDQ_CHECK_EQ(r.dead, 0U);
  CMDQ_CHECK_EQ(r.changed, 0U);
  CMDQ_CHECK_EQ(r.leaked, 0U);
  CMDQ_CHECK_EQ(r.lost, 0U);
  CMDQ_CHECK(r.hits > 0 && r.pairs > 0 && r.interrupts > 0 && r.teardowns > 0);
}

}  // namespace

CMDQ_TEST(strict_unmap_issues_exactly_the_commands_of_the_range_rules_and_one_sync) {
  std::vector<command> log;
  rig r(13, 1, model::device_drive::in_write, {.log = &log});
  cmdq::test::property([&](uint32_t some_bytes, uint8_t kind) {
    const device dev{true, {static_cast<huge_pages>(kind % 3), (kind & 8) != 0}};
    const uint64_t bytes = some_bytes % (7 * mib) + 1;
    const auto iova = r.map.map(0, dev, 512 * mib, bytes);
    CMDQ_CHECK(iova.ok());
    for (uint64_t at = 0; at < bytes; at += 4096) {
      r.tlb.translate(*iova + at, [&](const translation& t) { CMDQ_CHECK_EQ(t.pa, 512 * mib + at); });
    }
    log.clear();
    CMDQ_CHECK_EQ(r.map.unmap(0, dev, *iova, bytes), status::ok);
    // What the policy makes of the buffer: 2 MiB pages in front, small ones behind them.
    const uint64_t mapped = mapped_bytes(dev.pages, dev.trusted, 512 * mib, bytes);
    const uint64_t huge = dev.pages.huge == huge_pages::never ? 0 : mapped / (2 * mib) * (2 * mib);
    const uint64_t medium = dev.pages.medium ? (mapped - huge) / 65536 * 65536 : 0;
    std::vector<command> expected;
    const auto add = [&](uint64_t start, uint64_t length, unsigned log2) {
      if (length == 0) return;
      auto commands = *commands_for({start, length, log2}, test::cached_translations<rig::P>::space);
      for (command c; commands.next(c);) expected.push_back(c);
    };
    add(*iova, huge, log2_2m);
    add(*iova + huge, medium, log2_64k);
    add(*iova + huge + medium, mapped - huge - medium, log2_4k);
    CMDQ_CHECK_EQ(log.size(), expected.size() + 1);
    for (size_t i = 0; i < expected.size(); ++i) CMDQ_CHECK(log[i] == expected[i]);
    CMDQ_CHECK_EQ(opcode_of(log.back().word[0]), opcode_sync);
    for (uint64_t at = 0; at < bytes; at += 4096) CMDQ_CHECK(!r.tlb.holds(*iova + at));
  });
}

CMDQ_TEST(many_runs_are_split_over_lists_and_covered_by_the_last_sync) {
  std::vector<command> log;
  rig r(14, 1, model::device_drive::in_write, {.log = &log});
  gather batch;
  std::vector<uint64_t> iova;
  for (uint64_t i = 0; i < 28; ++i) iova.push_back(*r.map.map(0, small_pages, i * mib, 21 * 4096));  // gaps between
  for (const uint64_t v : iova) {
    for (uint64_t at = 0; at < 21 * 4096; at += 4096) r.tlb.translate(v + at, [](const translation&) {});
    CMDQ_CHECK(r.map.unmap(0, small_pages, v, 21 * 4096, batch).ok());
  }
  log.clear();
  CMDQ_CHECK_EQ(r.map.sync(0, batch), status::ok);
  CMDQ_CHECK(log.size() > 28);
  CMDQ_CHECK_EQ(opcode_of(log.back().word[0]), opcode_sync);
  for (const uint64_t v : iova) {
    for (uint64_t at = 0; at < 21 * 4096; at += 4096) CMDQ_CHECK(!r.tlb.holds(v + at));
  }
}

CMDQ_TEST(lazy_flush_is_one_command_for_the_address_space) {
  std::vector<command> log;
  rig r(12, 1, model::device_drive::in_write, {.log = &log});
  CMDQ_CHECK_EQ(r.map.set_mode(mode::lazy, r.memory, {.cpus = 1}), status::ok);
  for (int i = 0; i < 257; ++i) {
    const uint64_t v = *r.map.map(0, small_pages, 0x1000, 4096);
    CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, v, 4096), status::ok);
  }
  CMDQ_CHECK_EQ(log.size(), 2U);
  CMDQ_CHECK(log[0] == *encode(smmuv3::tlbi_nh_asid{.vmid = 3, .asid = 7}));
  CMDQ_CHECK_EQ(opcode_of(log[1].word[0]), opcode_sync);
}

CMDQ_TEST(invalidator_refuses_more_cpus_than_the_queue_has_producers) {
  rig r(8, 1, model::device_drive::in_write);
  rig::invalidator_type more;
  CMDQ_CHECK_EQ(more.init(r.memory, *r.queue, 1, {}), status::too_many_producers);
  rig::invalidator_type none;
  arena nothing;
  CMDQ_CHECK_EQ(none.init(nothing, *r.queue, 1, {}), status::no_space);
  CMDQ_CHECK_EQ(none.init(r.memory, *r.queue, 0, {}), status::out_of_range);
}

CMDQ_TEST(strict_with_the_device_translating_no_translation_survives_unmap) {
  check_clean(short_soak(4, false, 2'000));
}

CMDQ_TEST(lazy_with_the_device_translating_no_iova_is_reused_before_its_flush) {
  const auto r = short_soak(4, true, 5'000);
  check_clean(r);
  CMDQ_CHECK(r.flushes > 0);
}

CMDQ_TEST(soak_32_threads_strict) { check_clean(short_soak(32, false, 100)); }

CMDQ_TEST(soak_32_threads_lazy) { check_clean(short_soak(32, true, 1'000)); }

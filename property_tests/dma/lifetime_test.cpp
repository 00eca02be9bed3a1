// SPDX-License-Identifier: BSL-1.0
// Power, teardown, and devices with translations of their own, through the real queue and the modelled device.
#include <cmdq/dma/dispatch.hpp>
#include <cmdq/model/device_caches.hpp>
#include <thread>

#include "dma/smmu_rig.hpp"
#include "dma/support.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {

constexpr uint64_t page = 4096;
constexpr device small_pages{true, {huge_pages::never, false}};
using rig = test::smmu_rig<default_config>;
constexpr auto in_write = model::device_drive::in_write;
constexpr address_space with_ats{.vmid = 3, .asid = 7, .ril = true, .ats = true};

std::vector<uint8_t> opcodes(const std::vector<command>& log) {
  std::vector<uint8_t> all;
  for (const command& c : log) all.push_back(opcode_of(c.word[0]));
  return all;
}
constexpr uint8_t tlbi_va = 0x12, tlbi_asid = 0x11, atc = 0x40, cmd_sync = 0x46;

}  // namespace

CMDQ_TEST(atc_is_invalidated_after_the_tlb_and_before_the_address_is_used_again) {
  std::vector<command> log;
  rig r(10, 1, in_write, {.log = &log, .space = with_ats});
  const atc_stream plain{.sid = 0x20};
  const atc_stream pasid{.sid = 0x21, .ssid = 5, .has_ssid = true};
  CMDQ_CHECK_EQ(r.invalidator.attach(plain), status::ok);
  CMDQ_CHECK_EQ(r.invalidator.attach(pasid), status::ok);
  model::device_caches<> caches;
  const uint64_t iova = *r.map.map(0, small_pages, 0x5000, 3 * page);
  for (uint64_t i = 0; i < 3; ++i) {
    caches.atc.fill({plain.sid, false, 0, iova + i * page, 0});
    caches.atc.fill({pasid.sid, true, pasid.ssid, iova + i * page, 0});
  }
  log.clear();
  CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, iova, 3 * page), status::ok);
  CMDQ_CHECK(opcodes(log) == (std::vector<uint8_t>{tlbi_va, cmd_sync, atc, atc, cmd_sync}) ||
             opcodes(log) == (std::vector<uint8_t>{tlbi_va, tlbi_va, cmd_sync, atc, atc, cmd_sync}));
  for (const command& c : log) caches.apply(c);
  CMDQ_CHECK_EQ(caches.atc.size(), 0U);
  log.clear();
  CMDQ_CHECK_EQ(r.map.close(0).code, status::ok);
  CMDQ_CHECK(opcodes(log) == (std::vector<uint8_t>{tlbi_asid, cmd_sync, atc, atc, cmd_sync}));
  caches.atc.fill({pasid.sid, true, pasid.ssid, 0x7777000, 3});
  for (const command& c : log) caches.apply(c);
  CMDQ_CHECK_EQ(caches.atc.size(), 0U);
  CMDQ_CHECK_EQ(r.invalidator.detach(plain), status::ok);
  CMDQ_CHECK_EQ(r.invalidator.detach(plain), status::invalid_argument);
}

CMDQ_TEST(lazy_flush_reaches_the_atcs) {
  std::vector<command> log;
  rig r(10, 1, in_write, {.log = &log, .space = with_ats});
  CMDQ_CHECK_EQ(r.invalidator.attach({.sid = 9}), status::ok);
  CMDQ_CHECK_EQ(r.map.set_mode(mode::lazy, r.memory, {}), status::ok);
  const uint64_t iova = *r.map.map(0, small_pages, 0x5000, page);
  CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, iova, page), status::ok);
  CMDQ_CHECK(log.empty());
  CMDQ_CHECK_EQ(r.map.flush(0), status::ok);
  CMDQ_CHECK(opcodes(log) == (std::vector<uint8_t>{tlbi_asid, cmd_sync, atc, cmd_sync}));
}

CMDQ_TEST(atc_command_covers_the_range_and_no_more_than_a_power_of_two_around_it) {
  cmdq::test::property([](uint64_t start, uint32_t size) {
    const uint64_t bytes = size + uint64_t{1};
    const command c = atc_command({.sid = 1}, start, bytes);
    const auto decoded = *smmuv3::decode(c);
    const uint64_t log2 = decoded.get(smmuv3::field::size);
    if (start + size < start) {
      CMDQ_CHECK_EQ(log2, atc_everything);
      return;
    }
    const uint64_t first = decoded.get(smmuv3::field::addr) >> 12;
    const uint64_t pages = uint64_t{1} << log2;
    CMDQ_CHECK_EQ(first % pages, 0U);
    CMDQ_CHECK(first <= start >> 12 && (start + size) >> 12 < first + pages);
    if (log2 != 0) CMDQ_CHECK((start >> 12) / (pages / 2) != ((start + size) >> 12) / (pages / 2));
  });
}

CMDQ_TEST(dead_atc_is_told_to_the_unmap_and_its_range_is_not_used_again) {
  rig r(4, 1, in_write, {.space = with_ats});
  CMDQ_CHECK_EQ(r.invalidator.attach({.sid = 13}), status::ok);
  CMDQ_CHECK(r.device.plan.kill_stream(13));
  const uint64_t iova = *r.map.map(0, small_pages, 0x5000, page);
  CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, iova, page), status::atc_timeout);
  CMDQ_CHECK_EQ(r.map.lost_ranges(), 1U);
  for (auto m = r.map.map(0, small_pages, 0, page); m.ok(); m = r.map.map(0, small_pages, 0, page))
    CMDQ_CHECK(*m != iova);
}

CMDQ_TEST(streams_that_cannot_be_attached_are_refused) {
  rig without(4, 1, in_write);
  CMDQ_CHECK_EQ(without.invalidator.attach({.sid = 1}), status::invalid_argument);
  rig r(4, 1, in_write, {.space = with_ats});
  CMDQ_CHECK_EQ(r.invalidator.attach({.sid = 1, .ssid = 1U << 20, .has_ssid = true}), status::out_of_range);
  for (uint32_t i = 0; i < atc_streams<rig::P>::most; ++i) CMDQ_CHECK_EQ(r.invalidator.attach({.sid = i}), status::ok);
  CMDQ_CHECK_EQ(r.invalidator.attach({.sid = 3}), status::invalid_argument);
  CMDQ_CHECK_EQ(r.invalidator.attach({.sid = 99}), status::no_space);
}

CMDQ_TEST(nested_spaces_drop_an_atc_whole_since_it_is_asked_by_va) {
  std::vector<command> log;
  rig r(4, 1, in_write, {.log = &log, .space = {.vmid = 3, .ril = true, .of = stage::nested, .ats = true}});
  CMDQ_CHECK_EQ(r.invalidator.attach({.sid = 2}), status::ok);
  const uint64_t iova = *r.map.map(0, small_pages, 0x5000, page);
  CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, iova, page), status::ok);
  CMDQ_CHECK(opcodes(log) == (std::vector<uint8_t>{0x2a, cmd_sync, 0x10, cmd_sync, atc, cmd_sync}));
  CMDQ_CHECK_EQ(smmuv3::decode(log[4])->get(smmuv3::field::size), atc_everything);
}

CMDQ_TEST(drained_mapper_refuses_work_and_comes_back_with_its_device) {
  for (const bool lazy : {false, true}) {
    std::vector<command> log;
    rig r(10, 1, in_write, {.log = &log});
    if (lazy) CMDQ_CHECK_EQ(r.map.set_mode(mode::lazy, r.memory, {.period_ns = 1}), status::ok);
    const uint64_t stays = *r.map.map(0, small_pages, 0x5000, page);
    const uint64_t goes = *r.map.map(0, small_pages, 0x6000, page);
    CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, goes, page), status::ok);
    CMDQ_CHECK_EQ(r.map.drain(0, 1'000'000'000), status::ok);
    if (lazy) CMDQ_CHECK_EQ(r.map.deferred_ranges().pending(), 0U);
    log.clear();
    gather batch;
    segment s{0x7000, page};
    CMDQ_CHECK_EQ(r.map.map(0, small_pages, 0x7000, page).code(), status::would_block);
    CMDQ_CHECK_EQ(r.map.map_sg(0, small_pages, &s, 1, &s).code(), status::would_block);
    CMDQ_CHECK_EQ(r.map.alloc(0, small_pages, page).code(), status::would_block);
    CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, stays, page), status::would_block);
    CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, stays, page, batch).code, status::would_block);
    CMDQ_CHECK_EQ(r.map.unmap_part(0, stays, page), status::would_block);
    CMDQ_CHECK_EQ(r.map.flush(0), lazy ? status::would_block : status::ok);
    CMDQ_CHECK(!r.map.on_timer(0, ~uint64_t{0}));
    CMDQ_CHECK(log.empty() && batch.empty());
    // Power is lost and comes back: the queue goes on where it stopped.
    const auto m = r.ring->memory();
    const uint32_t at = r.queue->prod_register();
    CMDQ_CHECK_EQ(r.device.attach(m.entries, rig::log2_ring, m.device_address, at), status::ok);
    CMDQ_CHECK_EQ(r.map.resume(0), status::ok);
    CMDQ_CHECK(opcodes(log) == (std::vector<uint8_t>{tlbi_asid, cmd_sync}));  // whatever was cached
    CMDQ_CHECK(r.map.table().walk(stays).valid);
    CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, stays, page), status::ok);
    CMDQ_CHECK_EQ(r.map.close(0).code, status::ok);
    CMDQ_CHECK_EQ(r.map.iova().space().used_pages(), 0U);
  }
}

namespace {
struct local {
  explicit local(bool lazy = false) : mem(1 << 20) {
    test::counted::reset();
    memory = mem.arena();
    CMDQ_CHECK_EQ(map.init(memory, {.iova = {.cpus = 2, .log2_pages = 8}}, tlb), status::ok);
    tlb.table = &map.table();
    if (lazy) CMDQ_CHECK_EQ(map.set_mode(mode::lazy, memory, {.cpus = 2}), status::ok);
  }
  test::memory mem;
  arena memory;
  test::simple_iotlb<test::counted> tlb;
  mapper<test::counted, test::simple_iotlb<test::counted>> map;
};
}  // namespace

CMDQ_TEST(drain_does_not_wait_for_ever_and_can_be_tried_again) {
  local w;
  const uint64_t iova = *w.map.map(0, small_pages, 0x5000, page);
  w.tlb.before = [&] {  // somebody is inside, and the clock is its own
    std::thread clock([] {
      for (int i = 0; i < 1000; ++i) {
        test::counted::clock += 1'000'000;
        std::this_thread::yield();
      }
    });
    CMDQ_CHECK_EQ(w.map.drain(1, 5'000'000), status::timeout);
    clock.join();
  };
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, page), status::ok);  // was inside before
  CMDQ_CHECK_EQ(w.map.map(1, small_pages, 0x5000, page).code(), status::would_block);
  CMDQ_CHECK_EQ(w.map.drain(1, 5'000'000), status::ok);
  w.tlb.failure = status::timeout;
  CMDQ_CHECK_EQ(w.map.resume(1), status::timeout);
  CMDQ_CHECK_EQ(w.map.map(1, small_pages, 0x5000, page).code(), status::would_block);
  w.tlb.failure = status::ok;
  CMDQ_CHECK_EQ(w.map.resume(1), status::ok);
  CMDQ_CHECK(w.map.map(1, small_pages, 0x5000, page).ok());
}

CMDQ_TEST(bug_L88_close_waits_for_the_running_callback) {
  local w(true);
  const uint64_t iova = *w.map.map(0, small_pages, 0x5000, page);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, page), status::ok);
  test::counted::clock += 10'000'000;
  std::atomic<bool> inside{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> left{false};
  std::atomic<bool> closed_early{false};
  w.tlb.before_all = [&] {
    if (inside.exchange(true)) return;
    while (!go_on) std::this_thread::yield();
    left = true;
  };
  std::thread timer([&] { w.map.on_timer(1, test::counted::now_ns()); });
  while (!inside) std::this_thread::yield();
  std::thread closer([&] {
    CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
    closed_early = !left;
  });
  while (w.map.flush(0) != status::would_block) std::this_thread::yield();
  go_on = true;
  timer.join();
  closer.join();
  CMDQ_CHECK(!closed_early);
  CMDQ_CHECK(!w.map.on_timer(1, ~uint64_t{0}));  // closed: later callbacks do nothing
  CMDQ_CHECK_EQ(w.map.deferred_ranges().pending(), 0U);
}

CMDQ_TEST(gather_that_leaves_its_scope_is_delivered_and_close_counts_open_ones) {
  local w;
  const uint64_t a = *w.map.map(0, small_pages, 0x5000, page);
  const uint64_t b = *w.map.map(0, small_pages, 0x6000, page);
  w.tlb.translate(a, [](const translation&) {});
  {
    gather batch;
    CMDQ_CHECK(w.map.unmap(0, small_pages, a, page, batch).ok());
    CMDQ_CHECK(w.tlb.holds(a));
  }
  CMDQ_CHECK(!w.tlb.holds(a));
  CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
  CMDQ_CHECK_EQ(*w.map.map(0, small_pages, 0x5000, page), a);  // given back
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, a, page), status::ok);
  gather batch;
  CMDQ_CHECK(w.map.unmap(0, small_pages, b, page, batch).ok());
  const refusal why = w.map.close(0);
  CMDQ_CHECK(why.code == status::invalid_argument && why.value == 1 && std::string(why.field) == "unsynced gathers");
  local other;
  const uint64_t c = *other.map.map(0, small_pages, 0x6000, page);
  CMDQ_CHECK_EQ(other.map.unmap(0, small_pages, c, page, batch).code, status::invalid_argument);  // not its batch
  CMDQ_CHECK_EQ(other.map.sync(0, batch), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.drain(0, 1), status::ok);
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::would_block);
  CMDQ_CHECK_EQ(w.map.resume(0), status::ok);
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::ok);
  CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
}

CMDQ_TEST(producers_are_owned_by_one_call_at_a_time_and_waited_for_within_the_deadline) {
  // Two producers, both in use by calls that wait for a device that does nothing: the third call ends by itself.
  using P = test::waiting;
  struct config : freestanding_config {
    using platform = P;
  };
  P::waits = 0;
  P::idle = nullptr;
  test::smmu_rig<config> r(6, 0, model::device_drive::stepped, {.by_hand = true, .deadline_ns = 100'000});
  uint64_t iova[3];
  for (uint64_t& v : iova) v = *r.map.map(0, small_pages, 0x5000, page);
  int depth = 0;
  status third = status::ok;
  P::idle = [&] {
    if (depth == 2) return;
    ++depth;
    const status s = r.map.unmap(0, small_pages, iova[depth], page);
    if (depth == 2 && third == status::ok) third = s;
  };
  CMDQ_CHECK(r.map.unmap(0, small_pages, iova[0], page) != status::ok);
  CMDQ_CHECK_EQ(third, status::would_block);
  CMDQ_CHECK_EQ(r.map.lost_ranges(), 3U);
  P::idle = nullptr;
}

CMDQ_TEST(every_operation_goes_through_a_handle) {
  using mapper_type = decltype(local::map);
  local w;
  passthrough identity;
  refuse_all nothing;
  const segment list[] = {{0x5000, page}, {0x6000, 10}, {0x9000, 1}};
  for (const handle<mapper_type>& h : {handle<mapper_type>(w.map), handle<mapper_type>(identity)}) {
    segment out[3];
    CMDQ_CHECK_EQ(*h.map_sg(0, small_pages, list, 3, out), 2U);
    CMDQ_CHECK(out[0].bytes == page + 10 && out[1].bytes == 1);
    CMDQ_CHECK_EQ(h.sync_for_device(0, small_pages, out[0].address, 10), status::ok);
    CMDQ_CHECK_EQ(h.sync_for_cpu(0, small_pages, out[0].address, 10), status::ok);
    CMDQ_CHECK_EQ(h.unmap_sg(0, small_pages, out, 2), status::ok);
    CMDQ_CHECK_EQ(h.alloc(0, small_pages, page).code(), status::no_space);  // no pool
    CMDQ_CHECK_EQ(h.free(0, small_pages, {}), status::invalid_argument);
    CMDQ_CHECK_EQ(h.map_sg(0, small_pages, list, 0, out).code(), status::invalid_argument);
    const uint64_t v = *h.map(0, small_pages, 0x5123, 5);
    CMDQ_CHECK_EQ(h.unmap(0, small_pages, v, 5), status::ok);
  }
  CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
  const device narrow{true, {}, 16};
  CMDQ_CHECK_EQ(identity.map(0, narrow, 0xffff, 1).code(), status::ok);
  CMDQ_CHECK_EQ(identity.map(0, narrow, 0xffff, 2).code(), status::out_of_range);
  const handle<passthrough> refused(nothing);
  segment out[3];
  CMDQ_CHECK_EQ(refused.map(0, small_pages, 0x5000, page).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.unmap(0, small_pages, 0x5000, page), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.map_sg(0, small_pages, list, 3, out).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.unmap_sg(0, small_pages, list, 3), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.sync_for_device(0, small_pages, 0x5000, page), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.sync_for_cpu(0, small_pages, 0x5000, page), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.alloc(0, small_pages, page).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(refused.free(0, small_pages, {}), status::invalid_argument);
}

CMDQ_TEST(huge_pages_are_chosen_where_an_iommu_translates_and_the_system_has_them) {
  using enum huge_page_advice;
  constexpr huge_pages otherwise = huge_pages::always;
  const auto chosen = [&](bool translated, bool supported, bool worth) {
    return choose_huge_pages({translated, supported, worth}, otherwise);
  };
  CMDQ_CHECK(chosen(true, true, false) == (huge_page_choice{huge_pages::within_size, none}));
  CMDQ_CHECK(chosen(true, false, false) == (huge_page_choice{otherwise, recommended_but_off}));
  CMDQ_CHECK(chosen(false, true, false) == (huge_page_choice{otherwise, none}));
  CMDQ_CHECK(chosen(false, false, false) == (huge_page_choice{otherwise, none}));
  CMDQ_CHECK(chosen(false, true, true) == (huge_page_choice{huge_pages::within_size, none}));
  CMDQ_CHECK(chosen(false, false, true) == (huge_page_choice{otherwise, recommended_but_off}));
}

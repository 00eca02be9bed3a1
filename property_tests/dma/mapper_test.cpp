// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cmdq/dma/dispatch.hpp>
#include <thread>

#include "dma/support.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {

constexpr uint64_t mib = 1 << 20;
constexpr uint64_t base = 64 * mib;
constexpr device small_pages{true, {huge_pages::never, false}};
constexpr device untrusted{false, {huge_pages::never, false}};

template <class P>
struct world {
  explicit world(unsigned log2_pages, uint32_t cpus = 2) : mem((std::size_t{16} << log2_pages) + mib / 2) {
    memory = mem.arena();
    const iova_options iova{.cpus = cpus, .depot_magazines = 4, .log2_pages = log2_pages};
    CMDQ_CHECK_EQ(map.init(memory, {.base = base, .iova = iova}, tlb), status::ok);
    tlb.table = &map.table();
  }
  void touch(uint64_t iova, uint64_t bytes) {
    for (uint64_t at = iova & ~uint64_t{4095}; at < iova + bytes; at += 4096) {
      tlb.translate(at, [](const translation& t) { CMDQ_CHECK(t.valid); });
    }
  }
  test::memory mem;
  arena memory;
  test::simple_iotlb<P> tlb;
  mapper<P, test::simple_iotlb<P>> map;
};

using single = world<test::counted>;

}  // namespace

CMDQ_TEST(strict_unmap_leaves_no_translation_and_invalidates_exactly_its_pages) {
  cmdq::test::property([](uint32_t some_bytes, uint16_t pa_pages, uint16_t offset, uint8_t kind) {
    single w(13);
    const device dev{true, {static_cast<huge_pages>(kind % 3), (kind & 8) != 0}};
    const uint64_t bytes = some_bytes % (7 * mib) + 1;
    const uint64_t pa = (uint64_t{pa_pages} << ((kind & 16) != 0 ? 21 : 12)) + offset % 4096;
    const auto iova = w.map.map(0, dev, pa, bytes);
    CMDQ_CHECK(iova.ok());
    CMDQ_CHECK_EQ(*iova % 4096, pa % 4096);
    w.tlb.translate(*iova, [&](const translation& t) { CMDQ_CHECK_EQ(t.pa, pa); });
    w.touch(*iova, bytes);
    w.tlb.translate(*iova + bytes - 1, [&](const translation& t) { CMDQ_CHECK_EQ(t.pa, pa + bytes - 1); });
    CMDQ_CHECK_EQ(w.map.unmap(0, dev, *iova, bytes), status::ok);
    CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
    uint64_t invalidated = 0;
    for (const page_run& r : w.tlb.last_runs) invalidated += r.bytes;
    CMDQ_CHECK_EQ(invalidated, mapped_bytes(dev.pages, bytes + offset % 4096));
    CMDQ_CHECK(w.tlb.last_runs.size() <= 3);
    for (uint64_t at = *iova & ~uint64_t{4095}; at < *iova + bytes; at += 4096) CMDQ_CHECK(!w.tlb.holds(at));
    CMDQ_CHECK_EQ(w.map.close(0), status::ok);
    CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
  });
}

CMDQ_TEST(wrong_unmaps_are_refused_and_change_nothing) {
  single w(10);
  const uint64_t a = *w.map.map(0, small_pages, 0x10000, 4 * 4096);
  const uint64_t b = *w.map.map(0, small_pages, 0x20000, 4 * 4096);
  for (const auto& [iova, bytes] : {std::pair{a, 3 * 4096U},
                                    {a, 5 * 4096U},
                                    {a + 4096, 3 * 4096U},
                                    {a, 8 * 4096U},
                                    {base - 4096, 4096U},
                                    {base + (4096U << 10), 4096U},
                                    {a + 64 * 4096, 4096U}}) {
    CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, bytes), status::invalid_argument);
  }
  CMDQ_CHECK_EQ(w.tlb.range_calls, 0U);
  w.touch(a, 4 * 4096);
  w.touch(b, 4 * 4096);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, a, 4 * 4096), status::ok);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, a, 4 * 4096), status::invalid_argument);  // twice
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, b, 4 * 4096), status::ok);
}

CMDQ_TEST(map_refuses_what_it_cannot_do) {
  single w(4);
  CMDQ_CHECK_EQ(w.map.map(0, small_pages, 0, 0).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.map(0, small_pages, uint64_t{1} << 52, 1).code(), status::out_of_range);
  CMDQ_CHECK_EQ(w.map.map(0, small_pages, (uint64_t{1} << 52) - 1, 2).code(), status::out_of_range);
  const auto large = w.map.map(0, small_pages, 0, 17 * 4096);
  CMDQ_CHECK_EQ(large.code(), status::no_space);
  CMDQ_CHECK_EQ(large.why().value, 17U * 4096);
  test::simple_iotlb<test::counted> tlb;
  mapper<test::counted, test::simple_iotlb<test::counted>> m;
  auto memory = w.mem.arena();
  CMDQ_CHECK_EQ(m.init(memory, {.base = 4096, .iova = {}}, tlb), status::misaligned);
}

CMDQ_TEST(gather_shares_one_invalidation_and_merges_neighbours) {
  single w(12);
  gather batch;
  uint64_t iova[20];
  for (uint64_t i = 0; i < 20; ++i) iova[i] = *w.map.map(0, small_pages, i << 12, 4096);
  for (const uint64_t v : iova) w.touch(v, 4096);
  for (const uint64_t v : iova) CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, v, 4096, batch), status::ok);
  CMDQ_CHECK_EQ(w.tlb.range_calls, 0U);
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::ok);
  CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
  CMDQ_CHECK_EQ(w.tlb.last_runs.size(), 1U);  // fresh space: 20 neighbours
  CMDQ_CHECK((w.tlb.last_runs[0] == page_run{base, 20 * 4096, log2_4k}));
  for (const uint64_t v : iova) CMDQ_CHECK(!w.tlb.holds(v));
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::ok);  // nothing to do: no command
  CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
}

CMDQ_TEST(gather_that_is_full_syncs_first) {
  single w(14);
  gather batch;
  std::vector<uint64_t> iova;
  for (uint64_t i = 0; i < 200; ++i) iova.push_back(*w.map.map(0, small_pages, i << 13, 4096 * (1 + i % 3)));
  for (uint64_t i = 0; i < 200; ++i) {
    CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova[i], 4096 * (1 + i % 3), batch), status::ok);
    CMDQ_CHECK(batch.run_count() <= gather::max_runs && batch.block_count() <= gather::max_blocks);
  }
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::ok);
  CMDQ_CHECK(w.tlb.range_calls >= 200 / gather::max_blocks && w.tlb.range_calls <= 20);
  CMDQ_CHECK_EQ(w.map.close(0), status::ok);
  CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
}

CMDQ_TEST(strict_gives_no_iova_out_before_its_invalidation) {
  single w(10);
  gather batch;
  const uint64_t first = *w.map.map(0, small_pages, 0x1000, 4096);
  const uint64_t second = *w.map.map(0, small_pages, 0x2000, 4096);
  uint64_t meanwhile = 0;
  w.tlb.before = [&] { meanwhile = *w.map.map(0, small_pages, 0x3000, 4096); };
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, first, 4096), status::ok);
  CMDQ_CHECK(meanwhile != 0 && meanwhile != first);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, second, 4096, batch), status::ok);
  CMDQ_CHECK_EQ(*w.map.map(0, small_pages, 0x4000, 4096), first);
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::ok);
  CMDQ_CHECK(meanwhile != second);
}

CMDQ_TEST(handle_reaches_the_common_mapper_directly_and_others_through_the_table) {
  single w(10);
  passthrough none;
  using handle_type = handle<mapper<test::counted, test::simple_iotlb<test::counted>>>;
  const handle_type common(w.map);
  const handle_type other(none);
  CMDQ_CHECK(common.direct() && !other.direct());
  const uint64_t iova = *common.map(0, small_pages, 0x7123, 100);
  w.tlb.translate(iova, [](const translation& t) { CMDQ_CHECK_EQ(t.pa, 0x7123U); });
  CMDQ_CHECK_EQ(common.unmap(0, small_pages, iova, 100), status::ok);
  CMDQ_CHECK_EQ(common.unmap(0, small_pages, iova, 100), status::invalid_argument);
  CMDQ_CHECK_EQ(*other.map(0, small_pages, 0x7123, 100), 0x7123U);
  CMDQ_CHECK_EQ(other.unmap(0, small_pages, 0x7123, 100), status::ok);
  CMDQ_CHECK_EQ(other.map(0, small_pages, 0x7123, 0).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
}

CMDQ_TEST(failed_invalidation_never_gives_the_range_out_again) {
  for (const bool lazy : {false, true}) {
    test::counted::reset();
    single w(10);
    if (lazy) CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.entries = 1}), status::ok);
    const uint64_t first = *w.map.map(0, small_pages, 0x1000, 4096);
    const uint64_t second = *w.map.map(0, small_pages, 0x2000, 4096);
    if (lazy) CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, first, 4096), status::ok);
    w.tlb.failure = status::timeout;
    CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, second, 4096), status::timeout);
    w.tlb.failure = status::ok;
    CMDQ_CHECK_EQ(w.map.lost_ranges(), 1U);
    for (auto m = w.map.map(0, small_pages, 0, 4096); m.ok(); m = w.map.map(0, small_pages, 0, 4096)) {
      CMDQ_CHECK(*m != second);
    }
  }
}

CMDQ_TEST(lazy_gives_no_iova_out_before_its_flush) {
  cmdq::test::property([](const std::vector<uint8_t>& moves) {
    test::counted::reset();
    single w(6);
    CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = 2, .entries = 8}), status::ok);
    std::vector<std::pair<uint64_t, uint64_t>> live;
    uint64_t pa = 0;
    for (const uint8_t move : moves) {
      const uint32_t cpu = move & 1U;
      const uint64_t bytes = (1 + move / 2 % 4) * uint64_t{4096};
      if (move < 150) {
        const auto iova = w.map.map(cpu, small_pages, pa += mib, bytes);
        if (!iova.ok()) continue;
        CMDQ_CHECK(!w.tlb.stale(*iova, pa, bytes));
        w.touch(*iova, bytes);
        live.emplace_back(*iova, bytes);
      } else if (!live.empty()) {
        const auto [iova, size] = live[move % live.size()];
        live.erase(live.begin() + move % static_cast<int>(live.size()));
        CMDQ_CHECK_EQ(w.map.unmap(cpu, small_pages, iova, size), status::ok);
      }
      test::counted::clock += 500'000;
      w.map.on_timer(0, test::counted::now_ns());
    }
    CMDQ_CHECK_EQ(w.tlb.range_calls, 0U);
    for (const auto& [iova, size] : live) CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, size), status::ok);
    CMDQ_CHECK_EQ(w.map.close(0), status::ok);
    CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
  });
}

CMDQ_TEST(bug_L91_no_memory_for_the_flush_queue_means_strict) {
  single w(10);
  arena nothing;
  const uint64_t iova = *w.map.map(0, small_pages, 0x5000, 4096);
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, nothing, {}), status::no_space);
  CMDQ_CHECK_EQ(w.map.mode_for(small_pages), mode::strict);
  w.touch(iova, 4096);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, 4096), status::ok);
  CMDQ_CHECK(!w.tlb.holds(iova));
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {}), status::ok);  // later, with memory
  CMDQ_CHECK_EQ(w.map.mode_for(small_pages), mode::lazy);
}

CMDQ_TEST(bug_L93_untrusted_device_stays_strict) {
  single w(10);
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {}), status::ok);
  const uint64_t theirs = *w.map.map(0, untrusted, 0x5000, 4096);
  const uint64_t ours = *w.map.map(0, small_pages, 0x6000, 4096);
  w.touch(theirs, 4096);
  w.touch(ours, 4096);
  CMDQ_CHECK_EQ(w.map.unmap(0, untrusted, theirs, 4096), status::ok);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, ours, 4096), status::ok);
  CMDQ_CHECK(!w.tlb.holds(theirs));
  CMDQ_CHECK(w.tlb.holds(ours));
  CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
}

CMDQ_TEST(lazy_cannot_be_switched_back) {
  single w(10);
  CMDQ_CHECK_EQ(w.map.set_mode(mode::strict, w.memory), status::ok);
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.entries = 16}), status::ok);
  const std::size_t left = w.memory.left();
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.entries = 16}), status::ok);  // already: nothing taken
  CMDQ_CHECK_EQ(w.memory.left(), left);
  CMDQ_CHECK_EQ(w.map.set_mode(mode::strict, w.memory), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.mode_for(small_pages), mode::lazy);
}

CMDQ_TEST(bug_L95_exhausted_space_is_flushed_and_tried_again) {
  single w(6);
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = 2, .entries = 4096}), status::ok);
  for (int round = 0; round < 5; ++round) {
    uint64_t iova[64];
    for (uint64_t& v : iova) {
      const auto m = w.map.map(0, small_pages, 0x1000, 4096);
      CMDQ_CHECK(m.ok());
      CMDQ_CHECK(!w.tlb.stale(*m, 0x1000, 4096));
      v = *m;
    }
    CMDQ_CHECK_EQ(w.map.map(0, small_pages, 0x1000, 4096).code(), status::no_space);
    for (const uint64_t v : iova) CMDQ_CHECK_EQ(w.map.unmap(1, small_pages, v, 4096), status::ok);
  }
}

namespace {

using real = platform::std_atomic;

/// Threads map and unmap; the device translates at random all the while. `alive[f]` says whether frame f may be reached
/// by the device: cleared by its owner once unmap has returned (strict only).
struct race {
  static constexpr uint32_t workers = 3;
  static constexpr uint64_t slots = 8;   // buffers that a worker may have mapped at once
  static constexpr uint64_t frames = 4;  // of memory behind each
  static constexpr unsigned log2_pages = 7;
  world<real> w{log2_pages, workers};
  std::atomic<bool> alive[workers * slots * frames] = {};
  std::atomic<bool> stop{false};
  std::atomic<bool> switched{true};
  std::atomic<uint64_t> stale{0};
  std::atomic<uint64_t> dead{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> hits{0};

  void device(uint32_t seed, bool check_dead) {
    while (!stop) {
      seed = seed * 1664525U + 1013904223U;
      const uint64_t iova = base + (uint64_t{seed >> 16} % (1U << log2_pages)) * 4096;
      w.tlb.translate(iova, [&](const translation& t) {
        if (!t.valid) return;
        ++hits;
        if (check_dead && !alive[t.pa >> 12]) ++dead;
      });
    }
  }
  void worker(uint32_t me, int rounds, const dma::device& dev) {
    std::array<uint64_t, slots> mapped{};
    std::array<uint64_t, slots> pages{};
    uint32_t state = me + 1;
    const auto set_alive = [&](uint64_t slot, bool on) {
      for (uint64_t f = 0; f < frames; ++f) alive[(me * slots + slot) * frames + f] = on;
    };
    const auto unmap = [&](uint64_t slot) {
      if (mapped[slot] == 0) return;
      if (w.map.unmap(me, dev, mapped[slot], pages[slot] << 12) != status::ok) ++refused;
      mapped[slot] = 0;
      set_alive(slot, false);
    };
    for (int i = 0; i < rounds || hits == 0 || (hits < 1000 && i < 1000 * rounds); ++i) {
      if (!switched) rounds = std::max(rounds, i + 1000);  // the switch is to happen among us
      state = state * 1664525U + 1013904223U;
      const uint64_t slot = (state >> 8) % slots;
      if (mapped[slot] != 0) {
        unmap(slot);
        continue;
      }
      pages[slot] = 1 + (state >> 20) % frames;
      set_alive(slot, true);
      const uint64_t pa = (me * slots + slot) * frames << 12;
      const auto iova = w.map.map(me, dev, pa, pages[slot] << 12);
      if (!iova.ok()) continue;
      if (w.tlb.stale(*iova, pa, pages[slot] << 12)) ++stale;
      mapped[slot] = *iova;
    }
    for (uint64_t slot = 0; slot < slots; ++slot) unmap(slot);
  }
  void run(int rounds, const dma::device& dev, bool check_dead, bool switch_live) {
    std::vector<std::thread> pool;
    switched = !switch_live;
    std::thread hardware([&] { device(7, check_dead); });
    std::thread timer([&] {
      while (!stop) {
        w.map.on_timer(0, real::now_ns());
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
    for (uint32_t t = 0; t < workers; ++t) pool.emplace_back([&, t] { worker(t, rounds, dev); });
    if (switch_live) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = workers, .entries = 32, .period_ns = 200'000}),
                    status::ok);
      switched = true;
    }
    for (auto& t : pool) t.join();
    stop = true;
    hardware.join();
    timer.join();
    CMDQ_CHECK_EQ(w.map.close(0), status::ok);
    CMDQ_CHECK_EQ(stale.load(), 0U);
    CMDQ_CHECK_EQ(dead.load(), 0U);
    CMDQ_CHECK_EQ(refused.load(), 0U);
    CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
    CMDQ_CHECK_EQ(w.map.lost_ranges(), 0U);
    CMDQ_CHECK(hits > 0);
  }
};

}  // namespace

CMDQ_TEST(strict_under_concurrency_no_translation_survives_unmap) {
  const auto r = std::make_unique<race>();
  r->run(20'000, small_pages, true, false);
}

CMDQ_TEST(lazy_under_concurrency_no_iova_is_reused_before_its_flush) {
  const auto r = std::make_unique<race>();
  CMDQ_CHECK_EQ(
      r->w.map.set_mode(mode::lazy, r->w.memory, {.cpus = race::workers, .entries = 32, .period_ns = 200'000}),
      status::ok);
  r->run(20'000, small_pages, false, false);
  CMDQ_CHECK(r->w.tlb.all_calls > 0);
}

CMDQ_TEST(bug_L90_live_switch_while_others_unmap) {
  const auto r = std::make_unique<race>();
  r->run(20'000, small_pages, false, true);
  CMDQ_CHECK(r->w.tlb.all_calls > 0);
}

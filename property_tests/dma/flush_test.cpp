// SPDX-License-Identifier: BSL-1.0
#include <cmdq/dma/flush_queue.hpp>
#include <functional>

#include "dma/support.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;
using P = test::counted;

namespace {

constexpr uint64_t ms = 1'000'000;

/// A flush queue whose flushes are counted and may be made to fail or to run something in their middle.
struct bench_queue {
  explicit bench_queue(const flush_options& options)
      : mem(4096 + std::size_t{options.shared ? 1 : options.cpus} * (options.entries * std::size_t{32} + 256)) {
    P::reset();
    auto arena = mem.arena();
    CMDQ_CHECK_EQ(queue.init(arena, options), status::ok);
  }
  auto flush() {
    return [this](uint32_t) {
      ++flushes;
      if (during) std::exchange(during, nullptr)();
      return outcome;
    };
  }
  auto release() {
    return [this](uint32_t, const deferred& d) { released.push_back(d.iova); };
  }
  status add(uint32_t cpu, uint64_t iova) { return queue.add(cpu, {iova, 4096}, flush(), release()); }
  bool timer() { return queue.on_timer(0, P::now_ns(), flush(), release()); }
  status flush_all(uint32_t cpu) { return queue.flush_all(cpu, flush(), release()); }

  test::memory mem;
  flush_queue<P> queue;
  std::vector<uint64_t> released;
  std::function<void()> during;
  status outcome = status::ok;
  uint64_t flushes = 0;
};

}  // namespace

CMDQ_TEST(full_ring_is_flushed_once_per_256_unmaps) {
  bench_queue q({.cpus = 1});
  for (uint64_t i = 0; i < 1024; ++i) {
    CMDQ_CHECK_EQ(q.add(0, i), status::ok);
    // 256 wait in the ring, and the one that finds it full is covered by the same flush.
    CMDQ_CHECK_EQ(q.flushes, (i + 1) / 257);
    CMDQ_CHECK_EQ(q.queue.pending() + q.released.size(), i + 1);
  }
  CMDQ_CHECK_EQ(q.released.size(), 3 * 257U);
}

CMDQ_TEST(flushes_at_most_once_per_256_unmaps_or_period_and_cpu) {
  cmdq::test::property([](const std::vector<uint16_t>& moves, bool shared) {
    bench_queue q({.cpus = 2, .entries = 16, .period_ns = 10 * ms, .shared = shared});
    uint64_t unmaps[2] = {};
    for (const uint16_t move : moves) {
      const uint32_t cpu = move & 1U;
      ++unmaps[cpu];
      CMDQ_CHECK_EQ(q.add(cpu, move), status::ok);
      P::clock += (move >> 4) * 10'000U;
      q.timer();
      // Nothing waits longer than a period and the step in which the timer was looked at.
      CMDQ_CHECK(q.queue.timer_deadline() == 0 || q.queue.timer_deadline() > P::now_ns());
      CMDQ_CHECK(q.queue.timer_deadline() != 0 || q.queue.pending() == 0);
    }
    const uint64_t full = shared ? (unmaps[0] + unmaps[1]) / 16 : unmaps[0] / 16 + unmaps[1] / 16;
    CMDQ_CHECK(q.flushes <= full + P::now_ns() / (10 * ms));
    CMDQ_CHECK_EQ(q.released.size() + q.queue.pending(), moves.size());
  });
}

CMDQ_TEST(shared_queue_option_has_one_ring_for_all) {
  bench_queue q(shared_flush_queue);
  for (uint64_t i = 0; i < 32768; ++i) CMDQ_CHECK_EQ(q.add(static_cast<uint32_t>(i % 7), i), status::ok);
  CMDQ_CHECK_EQ(q.flushes, 0U);
  P::clock += 999 * ms;
  CMDQ_CHECK(!q.timer());
  P::clock += 1 * ms;
  CMDQ_CHECK(q.timer());
  CMDQ_CHECK_EQ(q.released.size(), 32768U);
}

CMDQ_TEST(bug_L89_timer_word_is_written_once_per_period) {
  bench_queue q({.cpus = 4, .entries = 4096, .period_ns = 10 * ms});
  for (uint64_t i = 0; i < 1000; ++i) {
    CMDQ_CHECK_EQ(q.add(static_cast<uint32_t>(i % 4), i), status::ok);
    P::clock += ms / 10;
    q.timer();
  }
  // 100 ms: at most 10 periods and the one that runs; each is armed once and fired once.
  CMDQ_CHECK(P::written(site::timer_arm) <= 11);
  CMDQ_CHECK(P::written(site::timer_arm) >= 9);
  CMDQ_CHECK(P::written(site::timer_fire) <= P::written(site::timer_arm));
}

CMDQ_TEST(bug_L90_entry_cleared_during_a_flush_waits_for_the_next) {
  bench_queue q({.cpus = 2});
  CMDQ_CHECK_EQ(q.add(0, 1), status::ok);
  q.during = [&] { static_cast<void>(q.add(1, 2)); };
  CMDQ_CHECK_EQ(q.flush_all(0), status::ok);
  CMDQ_CHECK(q.released == std::vector<uint64_t>{1});
  CMDQ_CHECK_EQ(q.flush_all(0), status::ok);
  CMDQ_CHECK((q.released == std::vector<uint64_t>{1, 2}));
}

CMDQ_TEST(bug_L90_entry_left_by_the_timers_flush_arms_it_again) {
  bench_queue q({.cpus = 2});
  CMDQ_CHECK_EQ(q.add(0, 1), status::ok);
  P::clock += 10 * ms;
  q.during = [&] { static_cast<void>(q.add(1, 2)); };
  CMDQ_CHECK(q.timer());
  CMDQ_CHECK_EQ(q.queue.pending(), 1U);
  CMDQ_CHECK(q.queue.timer_deadline() > P::now_ns());
  P::clock += 10 * ms;
  CMDQ_CHECK(q.timer());
  CMDQ_CHECK_EQ(q.queue.pending(), 0U);
}

CMDQ_TEST(flushes_that_overtake_each_other_release_what_they_cover) {
  bench_queue q({.cpus = 2, .entries = 4});
  // A slow flush runs; meanwhile CPU 1 fills its ring twice: its flushes begin later, end first, and must make room.
  q.during = [&] {
    for (uint64_t i = 0; i < 11; ++i) static_cast<void>(q.add(1, i));
  };
  CMDQ_CHECK_EQ(q.flush_all(0), status::ok);
  CMDQ_CHECK_EQ(q.flushes, 3U);
  // Each flush covers the four in the ring and the one that found it full. The slow flush finishes last but began
  // first: the eleventh entry came after it.
  CMDQ_CHECK_EQ(q.released.size(), 10U);
  CMDQ_CHECK_EQ(q.queue.pending(), 1U);
}

CMDQ_TEST(failed_flush_releases_nothing_and_is_tried_again) {
  bench_queue q({.cpus = 1, .entries = 2});
  CMDQ_CHECK_EQ(q.add(0, 1), status::ok);
  CMDQ_CHECK_EQ(q.add(0, 2), status::ok);
  q.outcome = status::timeout;
  CMDQ_CHECK_EQ(q.add(0, 3), status::timeout);
  P::clock += 10 * ms;
  CMDQ_CHECK(q.timer());
  CMDQ_CHECK(q.released.empty());
  CMDQ_CHECK(q.queue.timer_deadline() > P::now_ns());
  q.outcome = status::ok;
  P::clock += 10 * ms;
  CMDQ_CHECK(q.timer());
  CMDQ_CHECK((q.released == std::vector<uint64_t>{1, 2}));
}

CMDQ_TEST(set_up_of_a_flush_queue_refuses_what_it_cannot_do) {
  test::memory mem(1024);
  auto arena = mem.arena();
  flush_queue<P> queue;
  CMDQ_CHECK_EQ(queue.init(arena, {.cpus = 0}), status::out_of_range);
  CMDQ_CHECK_EQ(queue.init(arena, {.entries = 0}), status::out_of_range);
  CMDQ_CHECK_EQ(queue.init(arena, {.entries = max_flush_entries + 1}), status::out_of_range);
  CMDQ_CHECK_EQ(queue.init(arena, {.period_ns = 0}), status::out_of_range);
  CMDQ_CHECK_EQ(queue.init(arena, {.cpus = 1}), status::no_space);
}

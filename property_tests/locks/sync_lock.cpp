// SPDX-License-Identifier: BSL-1.0
#include <cmdq/locks/sync_lock.hpp>
#include <cmdq/wait/park.hpp>

#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
using lock_type = locks::sync_lock<scheduled_platform, wait::spin>;

time_budget<scheduled_platform> forever(no_deadline);

/// What other CPUs do while this one waits.
struct meanwhile {
  explicit meanwhile(std::function<void()> f) { scheduled_platform::idle = std::move(f); }
  ~meanwhile() { scheduled_platform::idle = nullptr; }
};
}  // namespace

// Bounded bypass: once a sharer waits, no second exclusive acquisition comes before it.
CMDQ_TEST(bug_L05_no_second_bypass_of_a_waiting_sharer) {
  for (const std::uint32_t sharers : {1U, 3U}) {
    lock_type lock;
    CMDQ_CHECK(lock.try_lock_exclusive());
    unsigned rounds = 0;
    const meanwhile others([&] {
      CMDQ_CHECK(++rounds == 1);
      lock.unlock_exclusive();
      CMDQ_CHECK(!lock.try_lock_exclusive());
    });
    lock.lock_shared(sharers, forever);
    CMDQ_CHECK_EQ(rounds, 1U);
    for (std::uint32_t i = 1; i < sharers; ++i) CMDQ_CHECK(lock.try_unlock_shared());
    CMDQ_CHECK(!lock.try_unlock_shared());  // the last one still holds it
    CMDQ_CHECK(!lock.try_lock_exclusive());
    lock.unlock_shared();
    CMDQ_CHECK(lock.try_lock_exclusive());
  }
}

// Any sequence of calls against counters: exclusive only when nobody shares, the last sharer is told so.
CMDQ_TEST(bug_L06_held_shared_is_never_taken_exclusively) {
  property([] {
    lock_type lock;
    std::uint32_t sharers = 0;
    bool exclusive = false;
    const auto calls = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 5U));
    for (const unsigned call : calls) {
      if (call == 0 && !exclusive) {
        lock.lock_shared(2, forever);
        sharers += 2;
      } else if (call == 1 && sharers != 0 && !exclusive) {
        const bool left = lock.try_unlock_shared();
        CMDQ_CHECK_EQ(left, sharers > 1);
        if (!left) lock.unlock_shared();
        --sharers;
      } else if (call == 2) {
        const bool got = lock.try_lock_exclusive();
        CMDQ_CHECK_EQ(got, sharers == 0 && !exclusive);
        exclusive = exclusive || got;
      } else if (call == 3 && exclusive) {
        lock.unlock_exclusive();
        exclusive = false;
      }
    }
  });
}

// Threads under any interleaving: mutual exclusion, and everybody gets in.
template <class Wait>
void exclusion() {
  property([] {
    const choices c = *rc::gen::container<choices>(rc::gen::inRange<std::uint8_t>(0, 40));
    locks::sync_lock<scheduled_platform, Wait> lock;
    unsigned sharing = 0;
    unsigned alone = 0;
    scheduled_platform::atomic<std::uint32_t> work;
    scheduler s(c, 60'000);
    for (int t = 0; t < 2; ++t)
      s.spawn([&] {
        for (int i = 0; i < 3; ++i) {
          lock.lock_shared(1, forever);
          ++sharing;
          CMDQ_CHECK_EQ(alone, 0U);
          work.fetch_add(1, at<site::setup>);
          --sharing;
          if (!lock.try_unlock_shared()) lock.unlock_shared();
        }
      });
    for (int t = 0; t < 2; ++t)
      s.spawn([&] {
        for (int i = 0; i < 3; ++i) {
          if (!lock.try_lock_exclusive()) continue;
          ++alone;
          CMDQ_CHECK_EQ(sharing, 0U);
          CMDQ_CHECK_EQ(alone, 1U);
          // Long enough for a sharer to give up polling and to sleep.
          for (int k = 0; k < 1500; ++k) work.fetch_add(1, at<site::setup>);
          --alone;
          lock.unlock_exclusive();
        }
      });
    CMDQ_CHECK(s.run() == scheduler::ending::finished);
  });
}

CMDQ_TEST(sharers_and_the_exclusive_holder_exclude_each_other) { exclusion<wait::spin>(); }
CMDQ_TEST(a_sharer_that_sleeps_is_woken) { exclusion<wait::park>(); }

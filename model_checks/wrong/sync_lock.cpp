// SPDX-License-Identifier: BSL-1.0
// Locks that are wrong in one step each.
#include "../correct/lock_scenarios.hpp"

namespace cmdq::checks {
namespace {

/// As published for six years: the exclusive unlock stores 0, so the waiting sharers' counts are lost.
template <class Wait>
class zeroing_lock {
 public:
  void lock_shared() noexcept {
    for (;;) {
      std::uint32_t seen = value_.load(at<site::shared_wait>);
      if ((seen & exclusive) != 0) {
        typename Wait::template waiter<P> waiting;
        value_.fetch_add(1, at<site::shared_lock>);
        await_always<P, Wait>(channel_, value_, at<site::shared_wait>,
                              [](std::uint32_t v) { return (v & exclusive) == 0; });
        continue;
      }
      if (value_.compare_exchange(seen, seen + 1, at<site::shared_lock>)) return;
    }
  }
  void unlock_shared() noexcept { value_.fetch_add(~0U, at<site::shared_unlock>); }
  bool try_lock_exclusive() noexcept {
    std::uint32_t free = 0;
    return value_.compare_exchange(free, exclusive, at<site::exclusive_lock>);
  }
  void unlock_exclusive() noexcept { value_.store(0, at<site::exclusive_unlock>); }

 private:
  static constexpr std::uint32_t exclusive = 0x80000000U;
  P::atomic<std::uint32_t> value_;
  typename Wait::template channel<P> channel_;
};

struct wrong_lock_starves : sharer_gets_in<watched<zeroing_lock<wait::spin>>> {
  static constexpr facts about{.name = "wrong/lock_unlock_stores_zero_starves",
                               .proves = "L05: exclusive unlock stores 0; a sharer is kept out for ever",
                               .bounds = "1 sharer, 2 CPUs that try until it is in",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::livelock};
};

struct wrong_lock_overtakes : no_overtaking<watched<zeroing_lock<noting_wait>>, 2> {
  static constexpr facts about{.name = "wrong/lock_unlock_stores_zero_overtakes",
                               .proves = "L05 as a safety property: an exclusive holder overtakes a waiting sharer",
                               .bounds = "1 sharer, 2 CPUs that try twice each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::assertion};
};

/// The test for sharers and the acquisition are two steps.
struct two_step_lock : locks::sync_lock<P, wait::spin> {
  using base = locks::sync_lock<P, wait::spin>;
  P::atomic<std::uint32_t> taken;
  bool try_lock_exclusive() noexcept {
    if (!base::try_lock_exclusive()) return false;
    base::unlock_exclusive();
    return taken.exchange(1, at<site::exclusive_lock>) == 0;
  }
  void unlock_exclusive() noexcept { taken.store(0, at<site::exclusive_unlock>); }
};

struct wrong_lock_two_steps : sharer_then_exclusive<watched<two_step_lock>> {
  static constexpr facts about{.name = "wrong/lock_tests_then_takes",
                               .proves = "exclusive lock tests for sharers and takes the lock in two steps",
                               .bounds = "2 threads, 1 acquisition each",
                               .threads = 2,
                               .how = schedule::full,
                               .expected = ending::data_race};
};

/// The sharer does not look whether the lock is held exclusively.
struct heedless_lock : locks::sync_lock<P, wait::spin> {
  P::atomic<std::uint32_t> sharers;
  void lock_shared(std::uint32_t n = 1) noexcept { sharers.fetch_add(n, at<site::shared_lock>); }
  void unlock_shared() noexcept { sharers.fetch_add(~0U, at<site::shared_unlock>); }
  bool try_lock_exclusive() noexcept {
    return sharers.load(at<site::exclusive_lock>) == 0 && locks::sync_lock<P, wait::spin>::try_lock_exclusive();
  }
};

struct wrong_lock_heedless : no_overtaking<watched<heedless_lock>, 1> {
  static constexpr facts about{.name = "wrong/lock_sharer_does_not_wait",
                               .proves = "a sharer enters beside an exclusive holder",
                               .bounds = "1 sharer, 2 CPUs that try once each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::assertion};
};

/// The last-sharer test and the leaving are not one decision: unlocks first, then asks.
struct leaves_first_lock : locks::sync_lock<P, wait::spin> {
  bool try_unlock_shared() noexcept {
    unlock_shared();
    return !try_lock_exclusive_probe();
  }
  bool try_lock_exclusive_probe() noexcept {
    if (!try_lock_exclusive()) return false;
    unlock_exclusive();
    lock_shared();
    return true;
  }
};

struct wrong_lock_leaves_first : last_sharer<watched<leaves_first_lock>> {
  static constexpr facts about{.name = "wrong/lock_last_sharer_leaves_first",
                               .proves = "the last sharer gives its count back before it asks whether it is the last",
                               .bounds = "2 sharers, 1 exclusive try",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 3,
                               .expected = ending::assertion};
};

const registration<wrong_lock_starves> r1;
const registration<wrong_lock_overtakes> r2;
const registration<wrong_lock_two_steps> r3;
const registration<wrong_lock_heedless> r4;
const registration<wrong_lock_leaves_first> r5;

}  // namespace
}  // namespace cmdq::checks

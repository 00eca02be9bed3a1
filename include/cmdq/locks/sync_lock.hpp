// SPDX-License-Identifier: BSL-1.0
// The lock that keeps software CONS from moving under a CMD_SYNC: shared by waiting syncs, exclusive for whoever moves
// it. Value: 0 free, > 0 sharers, sign bit = held exclusively, with the sharers that wait for its end counted beside
// it. Source: algorithm "the sync lock"; the unlock that stored 0 (bug L05) is a fixture of the model checks.
#pragma once

#include <cmdq/wait/await.hpp>

namespace cmdq::locks {

template <class P, class Wait>
class sync_lock {
 public:
  /// Adds `n` sharers. Waits, within the budget, while an exclusive holder is inside, which holds it for a few
  /// instructions and takes no other lock; one that is stopped there holds nobody up for longer: what it may still
  /// store is a position that the device had passed before the caller's CMD_SYNC was told. The caller is counted either
  /// way. Bounded bypass: once counted, no second exclusive acquisition can come before this one. Cost: one
  /// read-modify-write.
  void lock_shared(uint32_t n, time_budget<P>& budget) noexcept {
    const uint32_t before = value_.fetch_add(n, at<site::shared_lock>);
    if ((before & exclusive) == 0) return;
    static_cast<void>(await<P, Wait>(
        channel_, value_, at<site::shared_wait>, [](uint32_t v) { return (v & exclusive) == 0; }, budget));
  }

  /// Leaves unless the caller is the last sharer: then false, and it still holds the lock, so that it may move software
  /// CONS before unlock_shared(). Wait-free. Cost: one load and one read-modify-write.
  [[nodiscard]] bool try_unlock_shared() noexcept {
    if (value_.load(at<site::shared_last>) == 1) return false;
    unlock_shared();
    return true;
  }

  /// Wait-free. Cost: one read-modify-write.
  void unlock_shared() noexcept { value_.fetch_add(~0U, at<site::shared_unlock>); }

  /// Succeeds only when nobody holds or awaits the lock. Wait-free. Cost: one compare-exchange.
  [[nodiscard]] bool try_lock_exclusive() noexcept {
    uint32_t free = 0;
    return value_.compare_exchange(free, exclusive, at<site::exclusive_lock>);
  }

  /// Clears the sign bit only: the waiting sharers stay counted. Wait-free. Cost: one read-modify-write.
  void unlock_exclusive() noexcept {
    value_.fetch_and(~exclusive, at<site::exclusive_unlock>);
    channel_.wake();
  }

 private:
  static constexpr uint32_t exclusive = 0x80000000U;
  typename P::template atomic<uint32_t> value_;
  typename Wait::template channel<P> channel_;
};

}  // namespace cmdq::locks

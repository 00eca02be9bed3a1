// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/wait/spin.hpp>

namespace cmdq::wait {

/// A few polls, some yields, then the thread sleeps until it is woken. Needs a platform whose threads can sleep. What
/// only the device changes wakes nobody: there the thread sleeps for short, growing times.
struct park {
  template <class P>
  static constexpr bool works_on = requires {
    typename P::mutex;
    typename P::condition;
    typename P::unique_lock;
  };
  static constexpr bool one_process = true;  ///< mutex and condition of one process
  static constexpr unsigned spins = 16;
  static constexpr unsigned yields = 16;
  static constexpr uint64_t longest_nap_ns = 50'000;

  template <class P>
  class channel {
   public:
    /// Sleeps unless `blocked()` turns false first. May return early; the caller polls again.
    template <class Blocked>
    void sleep_while(const Blocked& blocked, uint64_t end_ns) {
      typename P::unique_lock lock(mutex_);
      sleepers_.fetch_add(1, at<site::sleepers_add>);
      P::fence(at<site::park_fence>);  // [W] pairs with wake_fence
      if (blocked()) condition_.wait_until(lock, end_ns);
      sleepers_.fetch_add(~0U, at<site::sleepers_add>);
    }

    /// Call after the store that a sleeper may be waiting for. Cost without sleepers: one fence and one load.
    void wake() {
      P::fence(at<site::wake_fence>);  // [W] pairs with park_fence
      if (sleepers_.load(at<site::sleepers_look>) == 0) return;
      { typename P::unique_lock lock(mutex_); }  // whoever saw the old value is inside wait_until by now
      condition_.notify_all();
    }

   private:
    typename P::mutex mutex_;
    typename P::condition condition_;
    typename P::template atomic<uint32_t> sleepers_;
  };

  template <class P>
  class waiter : public rounds<P> {
   public:
    [[nodiscard]] stats::event kind() const noexcept {
      if (asleep()) return stats::event::park;
      return this->n_ < spins ? stats::event::spin : stats::event::yield;
    }
    /// A sleeper looks each time it wakes.
    [[nodiscard]] bool clock_due() const noexcept { return asleep() || rounds<P>::clock_due(); }

    template <class Blocked>
    void idle(channel<P>& where, const void* line, const Blocked& blocked, time_budget<P>& budget) {
      if (this->n_++ < spins) {
        P::pause(line, this->n_);
      } else if (!asleep()) {
        P::yield();
      } else if (!budget.expired()) {
        where.sleep_while(blocked, budget.end_ns());
      }
    }
    void idle_device(const void* line) {
      if (this->n_++ < spins) {
        P::pause(line, this->n_);
      } else if (!asleep()) {
        P::yield();
      } else {
        P::sleep_ns(nap_);
        nap_ = nap_ * 2 < longest_nap_ns ? nap_ * 2 : longest_nap_ns;
      }
    }

   private:
    [[nodiscard]] bool asleep() const noexcept { return this->n_ >= spins + yields; }
    uint64_t nap_ = 1'000;
  };
};

}  // namespace cmdq::wait

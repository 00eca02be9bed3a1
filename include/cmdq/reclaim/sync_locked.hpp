// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/locks/sync_lock.hpp>

namespace cmdq::reclaim {

/// Who may move software CONS, as published (Linux since 5.4): the last waiting sync to leave, or a waiter for space
/// that finds no sync waiting. Kept to compare with, and to reproduce published figures; `counted` needs no lock.
struct sync_locked {
  static constexpr bool needs_own_syncs = true;  ///< each list has a CMD_SYNC of its own

  template <class P, class Wait>
  class state {
   public:
    static constexpr bool may_lag = true;  ///< software CONS stays behind while syncs wait

    /// Before the entries of `n` syncs are marked valid (or, by the owner for all it gathered, before PROD).
    void enter(uint32_t n, time_budget<P>& budget) noexcept { lock_.lock_shared(n, budget); }

    /// A sync saw itself done at `cons`. The last-sharer test is safe: nobody can lock exclusively while the caller is
    /// counted, and `cons` was read after its own sync was done.
    template <class Allocation>
    void leave(Allocation& allocation, position cons) noexcept {
      if (lock_.try_unlock_shared()) return;
      allocation.advance(cons);
      lock_.unlock_shared();
    }

    /// A sync gives up: software CONS is not moved without the device's word.
    void abandon() noexcept { lock_.unlock_shared(); }

    /// The device was seen at `cons` by a caller that waits for space.
    template <class Allocation>
    void offer(Allocation& allocation, position cons) noexcept {
      if (distance(allocation.cons(at<site::cons_look>), cons) <= 0) return;
      if (!lock_.try_lock_exclusive()) return;
      allocation.advance(cons);
      lock_.unlock_exclusive();
    }

   private:
    locks::sync_lock<P, Wait> lock_;
  };
};

}  // namespace cmdq::reclaim

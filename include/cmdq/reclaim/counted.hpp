// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq::reclaim {

/// Who may move software CONS: anybody, to any position that the device has passed. Positions are free-running, so
/// "passed" cannot be mistaken a lap later and no lock is needed. Every finished call has moved software CONS past its
/// own list; therefore, with at most one waited-for list per producer, a claim always finds its space free.
struct counted {
  template <class P, class Wait>
  class state {
   public:
    static constexpr bool may_lag = false;
    void enter(uint32_t, time_budget<P>&) noexcept {}
    template <class Allocation>
    void leave(Allocation& allocation, position cons) noexcept {
      allocation.advance(cons);
    }
    void abandon() noexcept {}
    template <class Allocation>
    void offer(Allocation& allocation, position cons) noexcept {
      allocation.advance(cons);
    }
  };
};

}  // namespace cmdq::reclaim

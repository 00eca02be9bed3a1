// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/wait/spin.hpp>

namespace cmdq::wait {

/// A few polls, then the processor goes to other threads between polls. The default on hosted systems: with more
/// threads than cores the one that is waited for gets to run.
struct spin_then_yield {
  static constexpr unsigned spins = 16;

  template <class P>
  using channel = spin::channel<P>;

  template <class P>
  class waiter : public rounds<P> {
   public:
    [[nodiscard]] stats::event kind() const noexcept {
      return this->n_ < spins ? stats::event::spin : stats::event::yield;
    }
    template <class Blocked>
    void idle(channel<P>&, const void* line, const Blocked&, time_budget<P>&) noexcept {
      idle_device(line);
    }
    void idle_device(const void* line) noexcept {
      if (this->n_++ < spins) {
        P::pause(line, this->n_);
      } else {
        P::yield();
      }
    }
  };
};

}  // namespace cmdq::wait

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/stats/event.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq::wait {

/// How many fruitless polls go by between two looks at the clock. A platform may say so itself.
template <class P>
inline constexpr unsigned rounds_per_clock_check = 16;
template <class P>
requires requires { P::rounds_per_clock_check; }
inline constexpr unsigned rounds_per_clock_check<P> = P::rounds_per_clock_check;

/// Counts the fruitless polls of one wait, and says when the clock is due.
template <class P>
class rounds {
 public:
  [[nodiscard]] bool clock_due() const noexcept {
    return n_ % rounds_per_clock_check<P> == rounds_per_clock_check<P> - 1;
  }

 protected:
  unsigned n_ = 0;
};

/// Busy waiting: for CPUs that have nothing else to do. Progress of the waiter: as soon as the awaited store is
/// visible.
struct spin {
  /// Sleepers of one kind of event. Nobody sleeps here, so waking costs nothing.
  template <class P>
  class channel {
   public:
    void wake() noexcept {}
  };

  /// The state of one wait. `idle` comes between two fruitless polls of a word that some CPU will write;
  /// `idle_device` where only the device can change what is polled, which wakes nobody.
  template <class P>
  class waiter : public rounds<P> {
   public:
    /// What the next idle() does, for the counters.
    [[nodiscard]] static constexpr stats::event kind() noexcept { return stats::event::spin; }
    template <class Blocked>
    void idle(channel<P>&, const void* line, const Blocked&, time_budget<P>&) noexcept {
      P::pause(line, this->n_++);
    }
    void idle_device(const void* line) noexcept { P::pause(line, this->n_++); }
  };
};

}  // namespace cmdq::wait

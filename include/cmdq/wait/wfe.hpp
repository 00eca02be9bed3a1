// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/wait/spin.hpp>

namespace cmdq::wait {

/// Arm's wait-for-event. Needs `P::wait_for_event()` and `P::signal_event()`. What only the device changes is polled
/// with plain pauses: neither a CONS update nor an MSI write into memory is sure to raise an event (MMU-600 erratum;
/// MSI mode has none).
struct wfe {
  template <class P>
  static constexpr bool works_on = requires {
    P::wait_for_event();
    P::signal_event();
  };

  template <class P>
  class channel {
   public:
    void wake() noexcept { P::signal_event(); }
  };

  template <class P>
  class waiter : public rounds<P> {
   public:
    [[nodiscard]] static constexpr stats::event kind() noexcept { return stats::event::spin; }
    template <class Blocked>
    void idle(channel<P>&, const void*, const Blocked&, time_budget<P>&) noexcept {
      ++this->n_;
      P::wait_for_event();
    }
    void idle_device(const void* line) noexcept { P::pause(line, this->n_++); }
  };
};

}  // namespace cmdq::wait

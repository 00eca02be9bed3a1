// SPDX-License-Identifier: BSL-1.0
// The lock of the DMA layer's parts. It is nearly always free: a CPU meets another one at its own magazine or flush
// ring only when a timer or an exhausted IOVA space visits it. It is held with interrupts masked and never while the
// device is waited for, so an interrupt handler never waits for what it interrupted.
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq::dma {

template <platform_type P>
class spin_lock {
 public:
  using platform = P;
  spin_lock() noexcept = default;
  spin_lock(const spin_lock&) = delete;
  spin_lock& operator=(const spin_lock&) = delete;

  /// Waits as long as another holds it. One exchange when free; while it is held, only reads. Use `holding`: whoever
  /// holds it must not be interrupted by one that wants it.
  void lock() noexcept {
    unsigned round = 0;
    while (word_.exchange(1, at<site::dma_lock>) != 0) {
      do {
        P::pause(&word_, round);
        if (++round % rounds_per_yield == 0) P::yield();
      } while (word_.load(at<site::dma_lock_wait>) != 0);
    }
  }
  void unlock() noexcept { word_.store(0, at<site::dma_unlock>); }

 private:
  static constexpr unsigned rounds_per_yield = 32;
  typename P::template atomic<uint32_t> word_;
};

/// Holds a lock for a scope, inside the platform's critical section: interrupts are masked first and unmasked last.
template <class Lock>
class [[nodiscard]] holding {
 public:
  explicit holding(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~holding() { lock_.unlock(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  [[no_unique_address]] typename Lock::platform::critical_section in_here_;  // before the lock and after it
  Lock& lock_;
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// One time budget per call, however many waits the call has in it.
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq {

inline constexpr uint64_t no_deadline = ~uint64_t{0};

/// Starts at the first look at the clock, which happens only once a call has to wait: a call that never waits never
/// reads the clock. The clock is not restarted by later waits of the same call. Differences are signed, so that a clock
/// that steps back by a little is no expired budget; a budget above 2^63 - 1 ns never ends.
template <class P>
class time_budget {
 public:
  constexpr explicit time_budget(uint64_t ns) noexcept : ns_(ns) {}

  /// Nothing may be waited for at all, or not any more: whoever helps others, calls that ask, and what comes in a call
  /// after the wait in which its budget ended, so that a call with many waits outlives it by one look at the clock.
  [[nodiscard]] constexpr bool none() const noexcept { return ns_ == 0; }

  /// True once the budget is used up. Cost: one look at the clock.
  bool expired() noexcept { return ns_ != no_deadline && expired_at(P::now_ns()); }
  /// The same for a time just read.
  bool expired_at(uint64_t now) noexcept {
    if (!started_) {
      started_ = true;
      start_ = now;
    }
    const auto gone = static_cast<int64_t>(now - start_);
    if (gone < 0 || static_cast<uint64_t>(gone) < ns_) return false;
    ns_ = 0;
    return true;
  }

  /// What is left of it at a time just read. Precondition: expired_at() was called before.
  [[nodiscard]] uint64_t left_at(uint64_t now) const noexcept {
    const auto gone = static_cast<int64_t>(now - start_);
    if (ns_ == no_deadline || gone < 0) return ns_;
    return static_cast<uint64_t>(gone) >= ns_ ? 0 : ns_ - static_cast<uint64_t>(gone);
  }

  /// The absolute end, `no_deadline` when there is none. Precondition: expired() was called before.
  [[nodiscard]] uint64_t end_ns() const noexcept {
    return ns_ == no_deadline || start_ + ns_ < start_ ? no_deadline : start_ + ns_;
  }

 private:
  uint64_t ns_;
  uint64_t start_ = 0;
  bool started_ = false;
};

}  // namespace cmdq

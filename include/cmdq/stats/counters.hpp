// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/stats/event.hpp>
#include <cmdq/stats/histogram.hpp>

namespace cmdq::stats {

/// One counter per event, kept by one producer: plain words, read once its thread is done.
class counters {
 public:
  static constexpr bool timed = false;
  constexpr void add(event e, uint64_t n = 1) noexcept { n_[static_cast<unsigned>(e)] += n; }
  [[nodiscard]] constexpr uint64_t of(event e) const noexcept { return n_[static_cast<unsigned>(e)]; }
  constexpr counters& operator+=(const counters& other) noexcept {
    for (unsigned i = 0; i < events; ++i) n_[i] += other.n_[i];
    return *this;
  }

 private:
  uint64_t n_[events] = {};
};

/// The same and a histogram of how long issue() waited, in nanoseconds. Cost: two looks at the clock per waited-for
/// list.
class timed_counters : public counters {
 public:
  static constexpr bool timed = true;
  constexpr void waited_ns(uint64_t ns) noexcept { waits_.add(ns); }
  [[nodiscard]] constexpr const histogram& waits() const noexcept { return waits_; }
  constexpr timed_counters& operator+=(const timed_counters& other) noexcept {
    counters::operator+=(other);
    waits_ += other.waits_;
    return *this;
  }

 private:
  histogram waits_;
};

}  // namespace cmdq::stats

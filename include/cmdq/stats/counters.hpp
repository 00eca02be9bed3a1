// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/stats/event.hpp>

namespace cmdq::stats {

/// One counter per event, kept by one producer: plain words, read once its thread is done.
class counters {
 public:
  constexpr void add(event e, uint64_t n = 1) noexcept { n_[static_cast<unsigned>(e)] += n; }
  [[nodiscard]] constexpr uint64_t of(event e) const noexcept { return n_[static_cast<unsigned>(e)]; }
  constexpr counters& operator+=(const counters& other) noexcept {
    for (unsigned i = 0; i < static_cast<unsigned>(event::count); ++i) n_[i] += other.n_[i];
    return *this;
  }

 private:
  uint64_t n_[static_cast<unsigned>(event::count)] = {};
};

}  // namespace cmdq::stats

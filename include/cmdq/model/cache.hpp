// SPDX-License-Identifier: BSL-1.0
// A cache of fixed capacity without order: filled round robin, emptied by predicate.
#pragma once

#include <stdint.h>

namespace cmdq::model {

template <class T, uint32_t Capacity>
class cache {
 public:
  /// Inserts; takes the place of the oldest entry when full.
  void fill(const T& entry) noexcept {
    slots_[next_] = entry;
    used_[next_] = true;
    next_ = (next_ + 1) % Capacity;
  }
  /// Drops what matches and returns how many that were.
  template <class Predicate>
  uint32_t drop(Predicate&& matches) noexcept {
    uint32_t n = 0;
    for (uint32_t i = 0; i < Capacity; ++i) {
      if (!used_[i] || !matches(slots_[i])) continue;
      used_[i] = false;
      ++n;
    }
    return n;
  }
  /// True when some entry matches.
  template <class Predicate>
  [[nodiscard]] bool any(Predicate&& matches) const noexcept {
    for (uint32_t i = 0; i < Capacity; ++i)
      if (used_[i] && matches(slots_[i])) return true;
    return false;
  }
  [[nodiscard]] uint32_t size() const noexcept {
    uint32_t n = 0;
    for (uint32_t i = 0; i < Capacity; ++i) n += used_[i] ? 1U : 0U;
    return n;
  }

 private:
  T slots_[Capacity] = {};
  bool used_[Capacity] = {};
  uint32_t next_ = 0;
};

}  // namespace cmdq::model

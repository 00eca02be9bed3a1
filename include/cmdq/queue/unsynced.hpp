// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>

namespace cmdq {

/// The lists of one producer that no CMD_SYNC was waited for since: its next waited-for list tells their errors. A full
/// one makes the next list a waited-for one, so that no error goes untold.
class unsynced_lists {
 public:
  static constexpr uint32_t capacity = 16;
  struct span {
    position start = 0;
    position end = 0;
  };

  [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] constexpr bool full() const noexcept { return count_ == capacity; }
  /// Precondition: !full(). `entered`: the health word before the list was claimed.
  constexpr void add(position start, position end, uint32_t entered) noexcept {
    if (count_ == 0) entered_ = entered;
    spans_[count_++] = {start, end};
  }
  constexpr void clear() noexcept { count_ = 0; }
  [[nodiscard]] constexpr uint32_t entered() const noexcept { return entered_; }
  [[nodiscard]] constexpr const span* begin() const noexcept { return spans_; }
  [[nodiscard]] constexpr const span* end() const noexcept { return spans_ + count_; }

 private:
  span spans_[capacity] = {};
  uint32_t count_ = 0;
  uint32_t entered_ = 0;  ///< of the oldest
};

}  // namespace cmdq

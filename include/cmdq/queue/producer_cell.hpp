// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq {

/// Where a producer says which lists it answers for, and the error handler says what went wrong with them. One per
/// producer, two cache lines each. A mark in the ring alone would not do: software CONS may be past a list whose caller
/// has not looked yet, and an error one lap later would replace the mark.
template <class P>
struct alignas(64) producer_cell {
  /// Lists that a producer may leave without waiting for one: the next one is waited for, so that no error goes untold.
  static constexpr uint32_t most_unsynced = 14;

  typename P::template atomic<uint64_t> waited;                   ///< start (upper half) and end of the list waited for
  typename P::template atomic<uint64_t> unsynced[most_unsynced];  ///< of those inserted since, without waiting
  typename P::template atomic<uint32_t> error;  ///< position and code of their first error not yet told, as in a mark
  typename P::template atomic<uint32_t> taken;

  /// For a new producer: no lists, no errors.
  void reset() noexcept {
    waited.store(0, at<site::cell_list>);
    for (auto& list : unsynced) list.store(0, at<site::cell_list>);
    error.store(0, at<site::cell_error>);
  }
  void set(typename P::template atomic<uint64_t>& list, position start, position end) noexcept {
    list.store((static_cast<uint64_t>(start) << 32) | end, at<site::cell_list>);
  }
};

/// Position and code of an error in one word. The position's two topmost bits are dropped: compare within 2^30.
constexpr uint32_t pack_error(position p, uint32_t code) noexcept { return (p << 2) | code; }

/// The error's code if its position lies in [from, to), else 0.
constexpr uint32_t error_within(uint32_t packed, position from, position to) noexcept {
  return (((packed >> 2) - from) & 0x3fffffffU) < to - from ? packed & 3U : 0U;
}

}  // namespace cmdq

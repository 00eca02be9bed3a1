// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/left_work.hpp>

namespace cmdq {

/// What a producer is at, for recover(), attach() and calls nested in one another.
namespace in_use {
inline constexpr uint32_t idle = 0;
inline constexpr uint32_t inside = 1;   ///< inside a call
inline constexpr uint32_t filling = 2;  ///< between reserve() and commit()
inline constexpr uint32_t owing = 3;    ///< its last call ended by its deadline: something is to be settled first
}  // namespace in_use

/// Where a producer says which lists it answers for, what it still owes, and where the error handler says what went
/// wrong. One per producer. A mark in the ring alone would not do: software CONS may be past a list whose caller has
/// not looked yet, and an error one lap later would replace the mark.
template <class P>
struct alignas(64) producer_cell {
  /// Lists that a producer may leave without waiting for one: the next one is waited for, so that no error goes untold.
  static constexpr uint32_t most_unsynced = 13;

  typename P::template atomic<uint32_t> use;                      ///< of in_use
  typename P::template atomic<uint32_t> taken;                    ///< some producer has it
  typename P::template atomic<uint64_t> waited;                   ///< start (upper half) and end of the list waited for
  typename P::template atomic<uint64_t> unsynced[most_unsynced];  ///< of those inserted since, without waiting
  typename P::template plain<position> owes;                      ///< what it owes is done once CONS has reached this
  typename P::template plain<uint32_t> owes_since;                ///< the health word when that was claimed
  typename P::template plain<uint32_t> owes_unplaced;             ///< 1: `left` tells where it is, once it is finished
  /// First error of its lists that is not told yet, as in a mark. Written by whoever handles it.
  alignas(64) typename P::template atomic<uint64_t> error;
  typename P::template atomic<uint64_t> left_line;  ///< its place in the line, marked, when it left before its turn
  left_work<P> left;                                ///< what its call could not finish itself

  /// For a new producer: no lists, no errors.
  void reset() noexcept {
    waited.store(0, at<site::cell_list>);
    for (auto& list : unsynced) list.store(0, at<site::cell_list>);
    error.store(0, at<site::cell_error>);
    use.store(in_use::idle, at<site::cell_use>);
  }
  void set(typename P::template atomic<uint64_t>& list, position start, position end) noexcept {
    list.store((static_cast<uint64_t>(start) << 32) | end, at<site::cell_list>);
  }
};

/// Position and code of an error in one word; 0: none.
constexpr uint64_t pack_error(position p, uint32_t code) noexcept { return (static_cast<uint64_t>(p) << 32) | code; }

/// The error's code if its position lies in [from, to), else 0.
constexpr uint32_t error_within(uint64_t packed, position from, position to) noexcept {
  return static_cast<position>(packed >> 32) - from < to - from ? static_cast<uint32_t>(packed) : 0U;
}

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// Valid-bit arithmetic: one bit per entry, 32 to a word. "Valid" is 1 on even laps and 0 on odd ones, so flipping a
// bit marks its entry and no one ever has to clear it.
#pragma once

#include <cmdq/core/position.hpp>

namespace cmdq {

/// The part of a range of positions that lies in one word of valid bits.
struct valid_span {
  uint32_t word = 0;     ///< index of the word
  uint32_t mask = 0;     ///< bits of the range in it
  uint32_t wanted = 0;   ///< value of those bits when all are valid
  uint32_t entries = 0;  ///< how many entries that is; > 0
};

inline constexpr uint32_t valid_bits_per_word = 32;

/// Words needed for a ring of this shape.
constexpr uint32_t valid_words(geometry g) noexcept {
  return (g.entries() + valid_bits_per_word - 1) / valid_bits_per_word;
}

/// Where the words of valid bits lie when neighbouring ones are to be on different cache lines of 64 bytes, so that
/// CPUs that mark neighbouring blocks do not take the line from each other. One to one; in order in rings of up to 512.
struct word_spread {
  explicit constexpr word_spread(geometry g) noexcept : shift(g.log2 < 9 ? 0 : g.log2 - 9), mask(valid_words(g) - 1) {}
  [[nodiscard]] constexpr uint32_t operator()(uint32_t w) const noexcept { return ((w << 4) | (w >> shift)) & mask; }

  unsigned shift;  ///< log2 of the lines
  uint32_t mask;
};

/// First span of [from, to). Precondition: 0 < to - from <= N. Never crosses a word or a lap.
constexpr valid_span first_span(geometry g, position from, position to) noexcept {
  const uint32_t slot = g.slot(from);
  const uint32_t bit = slot % valid_bits_per_word;
  // A word ends where its 32 bits do, or where a ring of fewer than 32 entries does.
  const uint32_t room = (valid_bits_per_word - 1 < g.index_mask ? valid_bits_per_word : g.index_mask + 1) - bit;
  const uint32_t n = to - from < room ? to - from : room;
  const uint32_t ones = ~0U >> (valid_bits_per_word - n);
  const uint32_t mask = ones << bit;
  return {slot / valid_bits_per_word, mask, g.wrap(from) != 0 ? 0U : mask, n};
}

}  // namespace cmdq

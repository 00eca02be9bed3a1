// SPDX-License-Identifier: BSL-1.0
// Valid-bit spans against a bitmap of one bool per entry.
#include <cmdq/core/valid_bits.hpp>
#include <vector>

#include "support/test.hpp"

using namespace cmdq;

namespace {

/// Bits as they are when everything before `from` is published and nothing from it on.
std::vector<uint32_t> bitmap_before(geometry g, position from) {
  std::vector<uint32_t> words(valid_words(g), 0);
  for (uint32_t i = 0; i < g.entries(); ++i) {
    const position p = from + i;
    // The entry at p still holds what its previous lap made it: valid then is 1 on even laps.
    const uint32_t previous_lap_valid = 1U ^ g.wrap(p - g.entries());
    if (previous_lap_valid != 0) words[g.slot(p) / 32] |= 1U << (g.slot(p) % 32);
  }
  return words;
}

bool entry_valid(geometry g, const std::vector<uint32_t>& words, position p) {
  return ((words[g.slot(p) / 32] >> (g.slot(p) % 32)) & 1U) == (g.wrap(p) ^ 1U);
}

bool all_valid(geometry g, const std::vector<uint32_t>& words, position from, position to) {
  for (position p = from; p != to;) {
    const valid_span s = first_span(g, p, to);
    if ((words[s.word] & s.mask) != s.wanted) return false;
    p += s.entries;
  }
  return true;
}

void publish(geometry g, std::vector<uint32_t>& words, position from, position to) {
  for (position p = from; p != to;) {
    const valid_span s = first_span(g, p, to);
    CMDQ_CHECK(s.entries > 0 && s.entries <= to - p);
    CMDQ_CHECK(s.word < words.size());
    words[s.word] ^= s.mask;
    p += s.entries;
  }
}

void check_range(geometry g, position from, uint32_t count) {
  auto words = bitmap_before(g, from);
  for (uint32_t i = 0; i < g.entries(); ++i) CMDQ_CHECK(!entry_valid(g, words, from + i));
  const position to = from + count;
  publish(g, words, from, to);
  for (uint32_t i = 0; i < g.entries(); ++i) CMDQ_CHECK_EQ(entry_valid(g, words, from + i), i < count);
  CMDQ_CHECK(all_valid(g, words, from, to));
  if (count < g.entries()) CMDQ_CHECK(!all_valid(g, words, from, to + 1));
}

}  // namespace

CMDQ_TEST(valid_bits_of_small_rings) {
  for (const uint32_t log2 : {2U, 3U, 5U, 6U}) {
    const geometry g{log2};
    for (const position base : {0U, g.entries(), 0U - 2 * g.entries(), 0U - g.entries()}) {
      for (uint32_t start = 0; start < g.entries(); ++start) {
        for (uint32_t count = 1; count <= g.entries(); ++count) check_range(g, base + start, count);
      }
    }
  }
}

/// Every word has a place of its own; in rings of up to 512 entries, its own number. In larger ones neighbours lie on
/// different cache lines.
CMDQ_TEST(spread_words_have_places_of_their_own) {
  for (uint32_t log2 = 1; log2 <= max_log2_size; ++log2) {
    const geometry g{log2};
    const word_spread place(g);
    std::vector<bool> taken(valid_words(g));
    for (uint32_t w = 0; w < valid_words(g); ++w) {
      CMDQ_CHECK(place(w) < valid_words(g));
      CMDQ_CHECK(!taken[place(w)]);
      taken[place(w)] = true;
      if (log2 <= 9) CMDQ_CHECK_EQ(place(w), w);
      if (log2 > 9 && w != 0) CMDQ_CHECK(place(w) / 16 != place(w - 1) / 16);
    }
  }
}

CMDQ_TEST(valid_bits_anywhere) {
  test::property([](position from) {
    const geometry g{*rc::gen::inRange<uint32_t>(min_log2_size, 11)};
    check_range(g, from, *rc::gen::inRange<uint32_t>(1, g.entries() + 1));
  });
}

/// One entry missing anywhere in the range keeps it from being valid.
CMDQ_TEST(valid_bits_show_one_missing_entry) {
  test::property([](position from) {
    const geometry g{*rc::gen::inRange<uint32_t>(min_log2_size, 11)};
    const uint32_t count = *rc::gen::inRange<uint32_t>(1, g.entries() + 1);
    const position hole = from + *rc::gen::inRange<uint32_t>(0, count);
    auto words = bitmap_before(g, from);
    publish(g, words, from, from + count);
    words[g.slot(hole) / 32] ^= 1U << (g.slot(hole) % 32);
    CMDQ_CHECK(!all_valid(g, words, from, from + count));
  });
}

// SPDX-License-Identifier: BSL-1.0
// Commands as tables: which bits tell a command, and where its fields are. Encode and decode for families that describe
// theirs so.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/core/status.hpp>

#include <stddef.h>

namespace cmdq {

/// Bits msb:lsb of a word. The field's value is those bits shifted up by `shift`: an address keeps its low zeroes.
struct field_layout {
  const char* name = nullptr;
  uint8_t word = 0;
  uint8_t msb = 0;
  uint8_t lsb = 0;
  uint8_t shift = 0;

  [[nodiscard]] constexpr uint64_t ones() const noexcept { return ~uint64_t{0} >> (63 - msb + lsb); }
  [[nodiscard]] constexpr uint64_t mask() const noexcept { return ones() << lsb; }
  [[nodiscard]] constexpr uint64_t max() const noexcept { return ones() << shift; }
  [[nodiscard]] constexpr uint64_t get(uint64_t w) const noexcept { return ((w >> lsb) & ones()) << shift; }
  [[nodiscard]] constexpr uint64_t put(uint64_t value) const noexcept { return ((value >> shift) & ones()) << lsb; }
};

inline constexpr size_t most_fields = 12;

/// A command: `match` under `mask` in word 0, and its fields.
struct command_layout {
  const char* name = nullptr;
  uint64_t mask = 0;
  uint64_t match = 0;
  field_layout fields[most_fields] = {};

  [[nodiscard]] constexpr size_t count() const noexcept {
    size_t n = 0;
    while (n < most_fields && fields[n].name != nullptr) ++n;
    return n;
  }
  /// Bits of a word that mean nothing in this command.
  [[nodiscard]] constexpr uint64_t reserved(unsigned word) const noexcept {
    uint64_t known = word == 0 ? mask : 0;
    for (size_t i = 0; i < count(); ++i)
      if (fields[i].word == word) known |= fields[i].mask();
    return ~known;
  }
  /// The number of a field, or count().
  [[nodiscard]] constexpr size_t find(const char* field) const noexcept {
    size_t i = 0;
    while (i < count() && !same_text(fields[i].name, field)) ++i;
    return i;
  }

  static constexpr bool same_text(const char* a, const char* b) noexcept {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a == *b;
  }
};

/// A command by its layout, with a value for each of its fields.
struct described {
  const command_layout* layout = nullptr;
  uint64_t values[most_fields] = {};

  /// 0 for a field that the command does not have.
  [[nodiscard]] constexpr uint64_t get(const char* field) const noexcept {
    const size_t i = layout->find(field);
    return i == layout->count() ? 0 : values[i];
  }
};

/// The layout that `word0` is of, or null.
template <size_t N>
constexpr const command_layout* find_layout(const command_layout (&table)[N], uint64_t word0) noexcept {
  for (const command_layout& l : table)
    if ((word0 & l.mask) == l.match) return &l;
  return nullptr;
}

/// Its bits. Errors, with the field's name, value and limit: out_of_range, misaligned (limit: the alignment).
template <unsigned Words>
constexpr result<command_of<Words>> encode_described(const described& d) noexcept {
  command_of<Words> out;
  out.word[0] = d.layout->match;
  for (size_t i = 0; i < d.layout->count(); ++i) {
    const field_layout& f = d.layout->fields[i];
    const uint64_t v = d.values[i];
    if (v > f.max()) return refusal{status::out_of_range, f.name, v, f.max()};
    const uint64_t unit = uint64_t{1} << f.shift;
    if ((v & (unit - 1)) != 0) return refusal{status::misaligned, f.name, v, unit};
    out.word[f.word] |= f.put(v);
  }
  return out;
}

/// The fields of `c`. Errors: invalid_argument "type" (unknown) or "reserved bits of word n", with the bits.
template <unsigned Words, size_t N>
constexpr result<described> decode_described(const command_layout (&table)[N], const command_of<Words>& c) noexcept {
  constexpr const char* reserved[] = {"reserved bits of word 0", "reserved bits of word 1", "reserved bits of word 2",
                                      "reserved bits of word 3"};
  const command_layout* const l = find_layout(table, c.word[0]);
  if (l == nullptr) return refusal{status::invalid_argument, "type", c.word[0] & table[0].mask, 0};
  described d{.layout = l};
  for (unsigned w = 0; w < Words; ++w)
    if ((c.word[w] & l->reserved(w)) != 0)
      return refusal{status::invalid_argument, reserved[w], c.word[w] & l->reserved(w), 0};
  for (size_t i = 0; i < l->count(); ++i) d.values[i] = l->fields[i].get(c.word[l->fields[i].word]);
  return d;
}

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// A command as the ring holds it. What its bits say is the device family's to know (see family.hpp).
#pragma once

#include <stdint.h>

namespace cmdq {

/// So many little-endian 64-bit words: 2, or 4 where the family has commands of 32 bytes.
template <unsigned Words>
struct command_of {
  uint64_t word[Words] = {};
  friend constexpr bool operator==(const command_of&, const command_of&) = default;
};

/// The 16 bytes that most families have.
using command = command_of<2>;

/// A copy that is read once, from memory that somebody else may be writing.
template <unsigned Words>
[[gnu::always_inline]] inline command_of<Words> copy_once(const command_of<Words>& from) noexcept {
  const volatile uint64_t* const w = from.word;
  command_of<Words> c;
  for (unsigned i = 0; i < Words; ++i) c.word[i] = w[i];
  return c;
}

/// What a queue distinguishes: configuration (tables), translations, those of devices (errors only a sync command can
/// report), answers to page requests, and sync commands, which are the queue's own. Commands of one class may share a
/// published range where the device demands it.
enum class command_class : uint8_t { configuration, tlb, atc, page_request, sync, unknown };

}  // namespace cmdq

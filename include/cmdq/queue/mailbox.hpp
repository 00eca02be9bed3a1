// SPDX-License-Identifier: BSL-1.0
// Where a producer leaves its list for whoever combines: memory only; allocation::mailboxes works on it.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/core/position.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq {

/// Most mailboxes whose bits share one word.
inline constexpr uint32_t mailboxes_per_word = 64;

inline constexpr uint32_t words_per_line = 6;
/// Of so many words each.
constexpr uint32_t commands_per_line(uint32_t words) noexcept { return words_per_line / words; }

/// A line of a mailbox: as many lines as a list of options.batch_limit commands takes, the first with what is asked
/// and answered. A short list travels with it in one cache line.
template <class P>
struct alignas(64) mailbox_line {
  /// First line. Where the list is: see placement. 0 from filling on until it is placed.
  typename P::template atomic<uint64_t> placed;
  /// First line. Asked: how many commands, and what for. Answered: the range of who watches the device for it.
  typename P::template atomic<uint64_t> note;
  typename P::template plain<uint64_t> word[words_per_line];
};

/// Lines of a mailbox for lists of up to `batch_limit` commands of so many words.
constexpr uint32_t lines_per_mailbox(uint32_t batch_limit, uint32_t words = 2) noexcept {
  return (batch_limit + commands_per_line(words) - 1) / commands_per_line(words);
}

/// Where a list was put, in one word that is never 0: its start, how many entries it has, and whether it is a ticket's.
/// A list without commands is the CMD_SYNC that covers it.
struct placement {
  position start = 0;
  uint32_t n = 0;
  bool ticket = false;

  [[nodiscard]] constexpr uint64_t packed() const noexcept {
    return static_cast<uint64_t>(start) << 32 | (ticket ? ticket_bit : 0U) | n;
  }
  static constexpr placement of(uint64_t packed) noexcept {
    const auto low = static_cast<uint32_t>(packed);
    return {static_cast<position>(packed >> 32), low & ~ticket_bit, (low & ticket_bit) != 0};
  }
  [[nodiscard]] constexpr position end() const noexcept { return start + n; }

 private:
  static constexpr uint32_t ticket_bit = 1U << 31;
};

}  // namespace cmdq

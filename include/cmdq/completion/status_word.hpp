// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/platform/orderings.hpp>

namespace cmdq::completion {

/// Each entry has a word of its own in memory. A sync command at position p names that of its entry, and the device
/// writes p there (its low 32 bits, zero-extended where it writes 64) when everything before is done; the waiter polls
/// memory. An older lap's value differs, since positions are free-running; whoever puts the command first stores ~p,
/// so that one of 2^32 entries ago is gone, too, and so that "still to come" can be told from "none there": until the
/// write has come, the entry and its word are not used again, or a late write would make a younger list seem done.
/// Relied upon: the writes of one queue become visible in its order. The consumer's register and the device's errors
/// are still looked at now and then; a write that is lost without a word ends its caller's wait by its deadline.
struct status_word {
  static constexpr uint8_t ways = completes::in_word;
  static constexpr bool in_memory = true;
  template <class Ring>
  static auto sync_for(Ring& ring, position p) noexcept {
    ring.done_word(p).store(static_cast<uint32_t>(~p), at<site::done_word_reset>);
    return Ring::family::sync_in_word(ring.done_address(p), p);
  }
  template <class Ring>
  [[nodiscard]] static bool done(Ring& ring, position p) noexcept {
    return static_cast<uint32_t>(ring.done_word(p).load(at<site::msi_poll>)) == p;
  }
  template <class Ring>
  [[nodiscard]] static bool pending(Ring& ring, position p) noexcept {
    return static_cast<uint32_t>(ring.done_word(p).load(at<site::msi_poll>)) == static_cast<uint32_t>(~p);
  }
  template <class Ring>
  [[nodiscard]] static const void* word(Ring& ring, position p) noexcept {
    return &ring.done_word(p);
  }
  /// The register may be behind what memory has shown.
  [[nodiscard]] static constexpr bool may_trail() noexcept { return true; }
};

}  // namespace cmdq::completion

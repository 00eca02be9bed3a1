// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/family.hpp>

namespace cmdq::completion {

/// A sync command is done once the consumer's register is past it. Every poll is an uncached device read, unless
/// another producer has already moved software CONS past it.
struct poll_cons {
  static constexpr uint8_t ways = completes::by_register;
  static constexpr bool in_memory = false;  ///< is every sync command answered in memory?
  /// The sync command to be put at `p`.
  template <class Ring>
  static constexpr auto sync_for(const Ring& ring, position) noexcept {
    return Ring::family::sync_by_register(ring.opts().signal);
  }
  [[nodiscard]] static constexpr bool may_trail() noexcept { return false; }
};

}  // namespace cmdq::completion

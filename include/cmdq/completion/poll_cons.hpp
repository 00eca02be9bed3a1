// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq::completion {

/// A CMD_SYNC is done once CMDQ_CONS is past it. Every poll is an uncached device read, unless another producer has
/// already moved software CONS past it.
struct poll_cons {
  static constexpr bool needs_msi = false;
  /// What a CMD_SYNC of this mode looks like; `slot_address` is its own entry's device address.
  static constexpr command sync_for(uint64_t, sync_signal signal) noexcept { return make_sync(signal); }
  [[nodiscard]] static constexpr bool by_msi() noexcept { return false; }
  [[nodiscard]] static constexpr bool may_trail() noexcept { return false; }
};

}  // namespace cmdq::completion

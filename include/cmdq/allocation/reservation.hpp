// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>

namespace cmdq {

/// What the caller of an insertion will do about its end: nothing, wait for it before it returns, or ask later.
enum class intent : uint8_t { unsynced, waited, ticket };

/// What a claim gave: entries [start, start + n), the last of them a CMD_SYNC where `own_sync`. Plain value.
struct reservation {
  position start = 0;
  uint32_t n = 0;         ///< entries claimed
  position done_at = 0;   ///< the list is done once software CONS has reached this
  bool owner = false;     ///< this caller tells the device, for all that gather behind it
  bool own_sync = false;  ///< the claim includes an entry for a CMD_SYNC
  bool waited = false;    ///< the caller must complete() it before it returns

  [[nodiscard]] constexpr position end() const noexcept { return start + n; }
};

}  // namespace cmdq

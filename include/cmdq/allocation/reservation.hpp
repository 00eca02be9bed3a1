// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>

namespace cmdq {

/// What the caller of an insertion will do about its end: nothing, wait for it before it returns, or ask later.
enum class intent : uint8_t { unsynced, waited, ticket };

/// Who writes the claimed entries: the caller, at once, a single command where options.special() is false; the caller,
/// and a group may gather first; or a user, who may take long: then no group waits for them, and others may still join
/// the range and keep to their deadlines.
enum class written : uint8_t { at_once, in_group, by_user };

/// What a claim gave: entries [start, start + n), the last of them a CMD_SYNC where `own_sync`. Plain value.
struct reservation {
  position start = 0;
  uint32_t n = 0;         ///< entries claimed
  position done_at = 0;   ///< the list is done once software CONS has reached this
  bool owner = false;     ///< this caller tells the device, for all that gather behind it
  bool closed = false;    ///< the owner has closed its range already, with nobody else in it
  bool own_sync = false;  ///< the claim includes an entry for a CMD_SYNC
  bool waited = false;    ///< the caller must complete() it before it returns
  bool left = false;      ///< the budget ended first: the rest of what it takes is in the producer's cell
  bool changed = false;   ///< the caller's list was not what it was when it was looked at
  uint8_t group = none;   ///< the group of CPUs that it gathered in
  uint32_t group_n = 0;   ///< leader of a group's claim: entries of all its lists, from `start` on

  static constexpr uint8_t none = 0xff;

  [[nodiscard]] constexpr position end() const noexcept { return start + n; }
};

}  // namespace cmdq

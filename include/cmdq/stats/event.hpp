// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdint.h>

namespace cmdq::stats {

/// What is counted, per producer.
enum class event : uint8_t {
  list,           ///< lists inserted
  claim_retry,    ///< failed compare-exchange while claiming or closing a range
  space_wait,     ///< fruitless polls while waiting for free entries
  sync_wait,      ///< fruitless polls while waiting for a CMD_SYNC
  spin,           ///< of those polls: followed by a pause
  yield,          ///< followed by giving the processor away
  park,           ///< followed by sleeping
  cons_read,      ///< reads of CMDQ_CONS
  prod_write,     ///< writes of CMDQ_PROD
  entries_told,   ///< entries published by those writes
  sync_sent,      ///< CMD_SYNCs put into the ring
  error_handled,  ///< device errors handled
  count
};

inline constexpr unsigned events = static_cast<unsigned>(event::count);

constexpr const char* name(event e) noexcept {
  constexpr const char* names[] = {"list", "claim_retry", "space_wait", "sync_wait",    "spin",      "yield",
                                   "park", "cons_read",   "prod_write", "entries_told", "sync_sent", "error_handled"};
  static_assert(sizeof names / sizeof names[0] == events, "one name per event");
  return e < event::count ? names[static_cast<unsigned>(e)] : "unknown";
}

}  // namespace cmdq::stats

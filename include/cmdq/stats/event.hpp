// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdint.h>

namespace cmdq::stats {

/// What is counted, per producer.
enum class event : uint8_t {
  claim_retry,    ///< failed compare-exchange while claiming or closing a range
  space_wait,     ///< polls while waiting for free entries
  sync_wait,      ///< fruitless polls while waiting for a CMD_SYNC
  cons_read,      ///< reads of CMDQ_CONS
  prod_write,     ///< writes of CMDQ_PROD
  entries_told,   ///< entries published by those writes
  sync_sent,      ///< CMD_SYNCs put into the ring
  error_handled,  ///< device errors handled
  count
};

constexpr const char* name(event e) noexcept {
  constexpr const char* names[] = {"claim_retry", "space_wait",   "sync_wait", "cons_read",
                                   "prod_write",  "entries_told", "sync_sent", "error_handled"};
  const auto i = static_cast<unsigned>(e);
  return i < sizeof names / sizeof names[0] ? names[i] : "unknown";
}

}  // namespace cmdq::stats

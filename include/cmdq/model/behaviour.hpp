// SPDX-License-Identifier: BSL-1.0
// How a modelled device behaves inside what the architecture allows, and which faults happen to it. All of it is plain
// data: set it while the device does not run, or from the thread that steps it.
#pragma once

#include <stdint.h>

#include <cmdq/core/position.hpp>

namespace cmdq::model {

/// A count that never ends.
inline constexpr uint32_t for_ever = ~0U;

/// What CMDQ_CONS.ERR shows once the error is acknowledged (architecturally UNKNOWN).
enum class stale_error : uint8_t { stays, cleared };

/// Pace and freedom of the consumer. Times in ns, counts in steps or commands.
struct pace {
  uint64_t command_ns = 0;       ///< time per command that is not a CMD_SYNC
  uint64_t sync_ns = 0;          ///< time per CMD_SYNC
  uint32_t cons_every = 1;       ///< 1: eager. k: CONS moves after k commands or when the ring is empty (lazy)
  uint32_t cons_idle_steps = 0;  ///< empty steps before a lazy CONS catches up
  uint32_t msi_late_steps = 0;   ///< steps by which an MSI write is late; CONS may be past its CMD_SYNC by then
  uint32_t cr0ack_steps = 0;     ///< steps between a write to CR0 and its effect
  bool defer_effects = false;    ///< invalidations take effect only at the next CMD_SYNC, as the architecture allows
  stale_error error_code = stale_error::stays;
};

/// The fetch of the command at `at` aborts `times` times (or for_ever).
struct fetch_abort_fault {
  position at = 0;
  uint32_t times = 0;
};

/// ATC_INVs to this stream id are never answered: each CMD_SYNC that covers some reports CERROR_ATC_INV `reports` times
/// (or for_ever), then passes.
struct dead_stream {
  uint32_t sid = 0;
  uint32_t reports = 1;
};

/// Faults to inject. The arrays are fixed: more faults than that in one run say no more.
struct faults {
  static constexpr uint32_t capacity = 8;
  fetch_abort_fault aborts[capacity] = {};
  uint32_t abort_count = 0;
  dead_stream dead[capacity] = {};
  uint32_t dead_count = 0;
  uint32_t lost_events = 0;   ///< so many CMD_SYNC events are lost (or for_ever)
  uint32_t failing_msis = 0;  ///< so many MSI writes abort: GERROR.MSI_CMDQ_ABT, nothing written (or for_ever)

  /// False when the array is full.
  constexpr bool abort_fetch(position at, uint32_t times) noexcept {
    if (abort_count == capacity) return false;
    aborts[abort_count++] = {at, times};
    return true;
  }
  /// False when the array is full.
  constexpr bool kill_stream(uint32_t sid, uint32_t reports = 1) noexcept {
    if (dead_count == capacity) return false;
    dead[dead_count++] = {sid, reports};
    return true;
  }
};

/// Uses one of a fault's repetitions. False when there is none left.
constexpr bool take(uint32_t& times) noexcept {
  if (times == 0) return false;
  if (times != for_ever) --times;
  return true;
}

/// Which dead streams have an ATC_INV that no CMD_SYNC has answered for yet.
class unanswered {
 public:
  constexpr void cover(const faults& plan, uint32_t sid) noexcept {
    for (uint32_t i = 0; i < plan.dead_count; ++i)
      if (plan.dead[i].sid == sid) left_[i] = plan.dead[i].reports;
  }
  /// True when the CMD_SYNC at hand reports CERROR_ATC_INV now, for all dead streams that it covers at once.
  constexpr bool report() noexcept {
    bool failed = false;
    for (uint32_t& times : left_) failed = take(times) || failed;
    return failed;
  }

 private:
  uint32_t left_[faults::capacity] = {};
};

}  // namespace cmdq::model

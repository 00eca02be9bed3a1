// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/platform/orderings.hpp>

namespace cmdq::completion {

/// The SMMUv3's: a CMD_SYNC names its own entry as MSI target; the device zeroes that entry's first 32 bits (64 on
/// Hi16xx parts) when it is done, and the waiter polls memory. No event comes with the write. CMDQ_CONS and GERROR are
/// still read now and then, so that an aborted MSI (GERROR.MSI_CMDQ_ABT) and device errors end the wait too; one that
/// is lost without a word ends it by its deadline. Relied upon: the MSIs of one queue become visible in its order, as
/// posted writes of one requester do; CMDQ_CONS may run ahead of them, or trail them by less than a lap. make_plan()
/// refuses it for a device without MSIs or coherency, and for a ring at device address 0.
struct poll_msi {
  static constexpr uint8_t ways = completes::in_entry;
  static constexpr bool in_memory = true;
  template <class Ring>
  static constexpr auto sync_for(const Ring& ring, position p) noexcept {
    return Ring::family::sync_in_entry(ring.device_address(p));
  }
  /// Does the entry at `p` show that its sync command is done? Cost: one load.
  template <class Ring>
  [[nodiscard]] static bool done(Ring& ring, position p) noexcept {
    return Ring::family::entry_done(ring.entry(p).word0.load(at<site::msi_poll>));
  }
  /// Is there a sync command at `p` that its device has not answered yet?
  template <class Ring>
  [[nodiscard]] static bool pending(Ring& ring, position p) noexcept {
    return Ring::family::entry_pending(ring.entry(p).word0.load(at<site::msi_poll>));
  }
  /// What to poll.
  template <class Ring>
  [[nodiscard]] static const void* word(Ring& ring, position p) noexcept {
    return &ring.entry(p).word0;
  }
  /// The register may be behind what memory has shown.
  [[nodiscard]] static constexpr bool may_trail() noexcept { return true; }
};

}  // namespace cmdq::completion

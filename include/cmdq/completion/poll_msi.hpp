// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq::completion {

/// A CMD_SYNC names its own entry as MSI target; the device zeroes that entry's first 32 bits (64 on Hi16xx parts) when
/// it is done, and the waiter polls memory. No event comes with the write. CMDQ_CONS and GERROR are still read now and
/// then, so that an aborted MSI (GERROR.MSI_CMDQ_ABT) and device errors end the wait too; one that is lost without a
/// word ends it by its deadline. Relied upon: the MSIs of one queue become visible in its order, as posted writes of
/// one requester do; CMDQ_CONS may run ahead of them, or trail them by less than a lap. make_plan() refuses it for a
/// device without MSIs or coherency, and for a ring at device address 0.
struct poll_msi {
  static constexpr bool needs_msi = true;
  static constexpr command sync_for(uint64_t slot_address, sync_signal) noexcept {
    return make_msi_sync(slot_address, 0);
  }
  [[nodiscard]] static constexpr bool by_msi() noexcept { return true; }
  /// CMDQ_CONS may be behind what the MSIs have shown.
  [[nodiscard]] static constexpr bool may_trail() noexcept { return true; }
};

}  // namespace cmdq::completion

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq::completion {

/// A CMD_SYNC names its own entry as MSI target; the device zeroes that entry's first 32 bits (64 on Hi16xx parts) when
/// it is done, and the waiter polls memory. No event comes with the write. CMDQ_CONS is still read now and then, so
/// that a lost or failed MSI and device errors end the wait too. Relied upon: the MSIs of one queue become visible in
/// its order, as posted writes of one requester do; CMDQ_CONS may run ahead of them.
struct poll_msi {
  static constexpr command sync_for(uint64_t slot_address, sync_signal) noexcept {
    return make_msi_sync(slot_address, 0);
  }
  [[nodiscard]] static constexpr bool by_msi() noexcept { return true; }
};

}  // namespace cmdq::completion

// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace bench {

/// Registers the cost of one insertion, and of one with its CMD_SYNC, on one thread with the inline device, for each
/// strategy and completion. `failed` is called when the device executed anything else than what was inserted.
void register_one_thread(void (*failed)(const char* what));

}  // namespace bench

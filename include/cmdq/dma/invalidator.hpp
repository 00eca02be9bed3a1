// SPDX-License-Identifier: BSL-1.0
// What the mapper asks of whoever invalidates translations: the command queue, or a stand-in in a test.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/gather.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq::dma {

/// Both calls return after the device has done it (CMD_SYNC completed), or with the reason why that is not known: the
/// addresses may not be used again then. Both may be called from an interrupt handler, also one that interrupted the
/// other call, and `cpu` is the caller's number.
template <class I>
concept invalidator = requires(I& i, uint32_t cpu, const page_run* runs, uint32_t count) {
  { i.invalidate(cpu, runs, count) } -> detail::same_as<status>;
  { i.invalidate_all(cpu) } -> detail::same_as<status>;
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// The little that a queue must know of an AMD IOMMU's commands. Opcode: word 0, bits 63:60.
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq::amdvi {

namespace opcode {
inline constexpr uint32_t completion_wait = 1, inv_devtab_entry = 2, inv_iommu_pages = 3, inv_iotlb_pages = 4,
                          inv_interrupt_table = 5, prefetch_iommu_pages = 6, complete_ppr_request = 7,
                          inv_iommu_all = 8;
}

inline constexpr uint64_t opcode_mask = uint64_t{0xf} << 60;
constexpr uint32_t opcode_of(uint64_t word0) noexcept { return static_cast<uint32_t>(word0 >> 60); }
constexpr uint64_t with_opcode(uint32_t op) noexcept { return uint64_t{op} << 60; }

/// COMPLETION_WAIT with a store of 8 bytes, the upper 4 of them 0. `address`: 8-byte aligned, below 2^52.
constexpr command make_wait(uint64_t address, uint32_t data) noexcept {
  return {{with_opcode(opcode::completion_wait) | (address & 0x000ffffffffffff8ULL) | 1U, data}};
}
/// COMPLETION_WAIT without store and interrupt.
constexpr command make_harmless() noexcept { return {{with_opcode(opcode::completion_wait), 0}}; }

}  // namespace cmdq::amdvi

// SPDX-License-Identifier: BSL-1.0
// The little that a queue must know of a RISC-V IOMMU's commands. Opcode: word 0, bits 6:0; func3: bits 9:7. Source:
// RISC-V IOMMU specification, in-memory queues (riscv-non-isa/riscv-iommu).
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq::riscv {

namespace opcode {
inline constexpr uint32_t iotinval = 1, iofence = 2, iodir = 3, ats = 4;
}

/// Opcode and func3 together.
inline constexpr uint64_t kind_mask = 0x3ff;
constexpr uint64_t kind(uint32_t op, uint32_t func3) noexcept { return op | uint64_t{func3} << 7; }

namespace kinds {
inline constexpr uint64_t iotinval_vma = kind(opcode::iotinval, 0), iotinval_gvma = kind(opcode::iotinval, 1),
                          iofence_c = kind(opcode::iofence, 0), iodir_ddt = kind(opcode::iodir, 0),
                          iodir_pdt = kind(opcode::iodir, 1), ats_inval = kind(opcode::ats, 0),
                          ats_prgr = kind(opcode::ats, 1);
}

constexpr uint64_t kind_of(uint64_t word0) noexcept { return word0 & kind_mask; }

/// IOFENCE.C with PR and PW: what devices read and wrote by an old translation is done, too.
constexpr command make_fence() noexcept { return {{kinds::iofence_c | 3U << 12, 0}}; }
/// The same, with a store of 4 bytes (AV). `address`: 4-byte aligned.
constexpr command make_fence_to(uint64_t address, uint32_t data) noexcept {
  return {{kinds::iofence_c | 1U << 10 | 3U << 12 | static_cast<uint64_t>(data) << 32, address >> 2}};
}
/// IOFENCE.C that orders commands and does nothing else.
constexpr command make_harmless() noexcept { return {{kinds::iofence_c, 0}}; }

}  // namespace cmdq::riscv

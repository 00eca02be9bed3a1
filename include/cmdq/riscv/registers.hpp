// SPDX-License-Identifier: BSL-1.0
// The registers of a RISC-V IOMMU that its command queue needs. Source: RISC-V IOMMU specification, register interface.
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/core/status.hpp>

namespace cmdq::riscv::registers {

namespace offset {
inline constexpr uint32_t capabilities = 0, fctl = 8, ddtp = 16, cqb = 24, cqh = 32, cqt = 36, cqcsr = 72, ipsr = 84;
}

namespace cqcsr {
inline constexpr uint32_t cqen = 1U << 0, cie = 1U << 1;
inline constexpr uint32_t cqmf = 1U << 8;         ///< a fetch, or the store of a fence, failed
inline constexpr uint32_t cmd_to = 1U << 9;       ///< a device did not answer an ATS.INVAL: cqh is at the fence
inline constexpr uint32_t cmd_ill = 1U << 10;     ///< cqh is at the command
inline constexpr uint32_t fence_w_ip = 1U << 11;  ///< a fence's wired interrupt: not the queue's
inline constexpr uint32_t cqon = 1U << 16, busy = 1U << 17;
inline constexpr uint32_t errors = cqmf | cmd_to | cmd_ill;  ///< written as 1 they are cleared
}  // namespace cqcsr

/// cqb for a ring of 2^log2 entries. Errors: misaligned (4 KiB, or the ring's size where that is larger).
constexpr result<uint64_t> make_cqb(uint64_t address, uint32_t log2) noexcept {
  const uint64_t size = uint64_t{16} << log2;
  const uint64_t unit = size < 4096 ? 4096 : size;
  if (address % unit != 0) return refusal{status::misaligned, "address", address, unit};
  return (address >> 12) << 10 | (log2 - 1);
}

}  // namespace cmdq::riscv::registers

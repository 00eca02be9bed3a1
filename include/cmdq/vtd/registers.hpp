// SPDX-License-Identifier: BSL-1.0
// The registers of a VT-d unit that its invalidation queue needs: offsets and bits (Linux dmar.c and VirtualBox as far
// as read; the specification itself was not).
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/core/status.hpp>

namespace cmdq::vtd::registers {

namespace offset {
inline constexpr uint32_t cap = 0x08, ecap = 0x10, gcmd = 0x18, gsts = 0x1c, fsts = 0x34, iqh = 0x80, iqt = 0x88,
                          iqa = 0x90, ics = 0x9c, iqercd = 0xb0;
}

namespace gcmd {
inline constexpr uint32_t qie = 1U << 26;         ///< GCMD.QIE and GSTS.QIES
inline constexpr uint32_t one_shot = 0x69000000;  ///< bits of GSTS that must not be written back to GCMD
}  // namespace gcmd

/// FSTS: 4, 5 and 6 are the queue's; written as 1 they are cleared.
namespace fsts {
inline constexpr uint32_t iqe = 1U << 4;  ///< queue error: the head stands at the descriptor
inline constexpr uint32_t ice = 1U << 5;  ///< completion error of a device's TLB
inline constexpr uint32_t ite = 1U << 6;  ///< time-out of a device's TLB: all waits that were pending are aborted
}  // namespace fsts

/// IQERCD: the requester whose answer did not come; 0 where the hardware does not say.
constexpr uint32_t timed_out_sid(uint64_t iqercd) noexcept { return static_cast<uint32_t>(iqercd >> 32) & 0xffffU; }

/// IQA for a ring of 2^log2 entries of 128 bits: 256 to 32768. Errors: out_of_range, misaligned (4 KiB).
constexpr result<uint64_t> make_iqa(uint64_t address, uint32_t log2) noexcept {
  if (log2 < 8) return refusal{status::out_of_range, "log2_size", log2, 8};
  if (log2 > 15) return refusal{status::out_of_range, "log2_size", log2, 15};
  if (address % 4096 != 0) return refusal{status::misaligned, "address", address, 4096};
  return address | (log2 - 8);
}

}  // namespace cmdq::vtd::registers

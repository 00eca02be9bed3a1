// SPDX-License-Identifier: BSL-1.0
// The little that a queue must know of VT-d's descriptors of 128 bits. Type: word 0, bits 3:0 and 11:9.
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq::vtd {

namespace type {
inline constexpr uint32_t context_cache = 1, iotlb = 2, device_tlb = 3, interrupt_cache = 4, wait = 5, pasid_iotlb = 6,
                          pasid_cache = 7, pasid_device_tlb = 8, page_group_response = 9, page_stream_response = 10;
}

inline constexpr uint64_t type_mask = 0xe0f;

constexpr uint32_t type_of(uint64_t word0) noexcept {
  return static_cast<uint32_t>((word0 & 0xfU) | ((word0 >> 9) & 7U) << 4);
}

/// A wait that writes `data` to `address` (4-byte aligned) when everything before is done. No fence bit: the store of a
/// wait comes after all descriptors before it have been done, which is all that is asked of it.
constexpr command make_wait(uint64_t address, uint32_t data) noexcept {
  return {{type::wait | 1U << 5 | static_cast<uint64_t>(data) << 32, address & ~uint64_t{3}}};
}

/// Does nothing that anybody could miss: it invalidates what domain 0 has in the IOTLB. A wait without action would be
/// the obvious choice, but QEMU 7.2 refuses one.
constexpr command make_harmless() noexcept { return {{type::iotlb | 2U << 4, 0}}; }

}  // namespace cmdq::vtd

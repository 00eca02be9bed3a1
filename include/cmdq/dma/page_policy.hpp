// SPDX-License-Identifier: BSL-1.0
// Which page size a buffer gets where. 2 MiB pages save IOTLB entries and invalidation commands; whether a buffer may
// have them is the policy, whether it can is a matter of alignment and of what lies wholly inside it.
#pragma once

#include <stdint.h>

namespace cmdq::dma {

inline constexpr unsigned log2_4k = 12;
inline constexpr unsigned log2_64k = 16;
inline constexpr unsigned log2_2m = 21;

enum class huge_pages : uint8_t {
  never,        ///< small pages only
  within_size,  ///< a 2 MiB page only where it lies wholly inside the buffer
  always,       ///< the buffer is rounded up to 2 MiB pages; the memory behind the rounding must be the caller's
};

struct page_policy {
  huge_pages huge = huge_pages::within_size;
  bool medium = false;  ///< 64 KiB pages where one lies wholly inside the buffer and no 2 MiB page does
};

constexpr uint64_t round_up(uint64_t bytes, unsigned log2) noexcept {
  const uint64_t low = (uint64_t{1} << log2) - 1;
  return (bytes + low) & ~low;
}

/// Bytes that a buffer of `bytes` takes up in IOVA space; 0 for 0.
constexpr uint64_t mapped_bytes(page_policy policy, uint64_t bytes) noexcept {
  return round_up(bytes, policy.huge == huge_pages::always ? log2_2m : log2_4k);
}

/// log2 of the largest page allowed at `iova` -> `pa` when `left` bytes of the mapping remain from there on.
constexpr unsigned page_log2_at(page_policy policy, uint64_t iova, uint64_t pa, uint64_t left) noexcept {
  const auto fits = [&](unsigned log2) {
    const uint64_t size = uint64_t{1} << log2;
    return ((iova | pa) & (size - 1)) == 0 && left >= size;
  };
  if (policy.huge != huge_pages::never && fits(log2_2m)) return log2_2m;
  if (policy.medium && fits(log2_64k)) return log2_64k;
  return log2_4k;
}

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// Which page size a buffer gets where. 2 MiB pages save IOTLB entries and invalidation commands; whether a buffer may
// have them is the policy, whether it can is a matter of alignment and size.
#pragma once

#include <stdint.h>

namespace cmdq::dma {

inline constexpr unsigned log2_4k = 12;
inline constexpr unsigned log2_64k = 16;
inline constexpr unsigned log2_2m = 21;

enum class huge_pages : uint8_t {
  never,        ///< small pages only
  within_size,  ///< a 2 MiB page only where it holds nothing but the buffer's 4 KiB pages
  /// A trusted device's buffer that begins at a 2 MiB boundary is rounded up to 2 MiB pages, and the memory up to that
  /// boundary must be the caller's; every other one is as with within_size.
  always,
};

struct page_policy {
  huge_pages huge = huge_pages::within_size;
  bool medium = false;  ///< 64 KiB pages, likewise, where there is no 2 MiB page
};

/// Precondition: the result fits in 64 bits.
constexpr uint64_t round_up(uint64_t bytes, unsigned log2) noexcept {
  const uint64_t low = (uint64_t{1} << log2) - 1;
  return (bytes + low) & ~low;
}
constexpr bool is_aligned(uint64_t address, unsigned log2) noexcept {
  return (address & ((uint64_t{1} << log2) - 1)) == 0;
}

/// Bytes of IOVA space that [pa, pa + bytes) takes up, from the page that holds pa; 0 for 0 bytes. Precondition:
/// pa + bytes is at most 2^52.
constexpr uint64_t mapped_bytes(page_policy policy, bool trusted, uint64_t pa, uint64_t bytes) noexcept {
  if (bytes == 0) return 0;
  const bool whole = policy.huge == huge_pages::always && trusted && is_aligned(pa, log2_2m);
  return whole ? round_up(bytes, log2_2m) : round_up((pa & ((uint64_t{1} << log2_4k) - 1)) + bytes, log2_4k);
}

/// log2 of the largest page allowed at `iova` -> `pa` when `left` bytes of the mapping remain from there on.
constexpr unsigned page_log2_at(page_policy policy, uint64_t iova, uint64_t pa, uint64_t left) noexcept {
  const auto fits = [&](unsigned log2) { return is_aligned(iova | pa, log2) && left >= uint64_t{1} << log2; };
  if (policy.huge != huge_pages::never && fits(log2_2m)) return log2_2m;
  if (policy.medium && fits(log2_64k)) return log2_64k;
  return log2_4k;
}

/// What is known of a device and its system when the page policy is chosen.
struct huge_page_facts {
  bool translated = false;          ///< an IOMMU translates for this device
  bool supported = false;           ///< the system can give buffers 2 MiB pages
  bool worth_untranslated = false;  ///< the device gains from them without an IOMMU, too
};

enum class huge_page_advice : uint8_t {
  none,                 ///< the choice is what is best here
  recommended_but_off,  ///< 2 MiB pages would pay, but the system does not support them: say so to the user
};

struct huge_page_choice {
  huge_pages policy = huge_pages::never;
  huge_page_advice advice = huge_page_advice::none;
  friend constexpr bool operator==(const huge_page_choice&, const huge_page_choice&) = default;
};

/// The rule of the i915 graphics driver (2021, commit 74388ca483a4): within_size where an IOMMU translates for the
/// device and the system supports huge pages, since each IOTLB entry saved counts there; `otherwise`, the system's
/// default, elsewhere; and advice where they would pay but are off.
constexpr huge_page_choice choose_huge_pages(const huge_page_facts& facts,
                                             huge_pages otherwise = huge_pages::never) noexcept {
  if (!facts.translated && !facts.worth_untranslated) return {otherwise, huge_page_advice::none};
  if (!facts.supported) return {otherwise, huge_page_advice::recommended_but_off};
  return {huge_pages::within_size, huge_page_advice::none};
}

}  // namespace cmdq::dma

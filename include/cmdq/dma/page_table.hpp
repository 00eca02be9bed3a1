// SPDX-License-Identifier: BSL-1.0
// A stand-in for an IO page table: it answers a walk with the translation and its page size, which is all that an IOTLB
// sees of a real one. One 64-bit word per 4 KiB page of the space; a larger page has its word where it begins.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/arena.hpp>
#include <cmdq/dma/page_policy.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq::dma {

/// What a walk finds. `valid` false: a translation fault.
struct translation {
  bool valid = false;
  uint64_t pa = 0;         ///< of the address asked for, offset included
  unsigned page_log2 = 0;  ///< size of the page that holds it
};

template <platform_type P>
class page_table {
 public:
  /// Takes 8 bytes per page. `base`: first IOVA, aligned to 2 MiB. Errors: misaligned, out_of_range, no_space.
  status init(arena& memory, uint64_t base, unsigned log2_pages) noexcept {
    if ((base & ((uint64_t{1} << log2_2m) - 1)) != 0) return status::misaligned;
    if (log2_pages > 30) return status::out_of_range;
    words_ = memory.take<word>(size_t{1} << log2_pages);
    if (words_ == nullptr) return status::no_space;
    base_ = base;
    pages_ = uint64_t{1} << log2_pages;
    return status::ok;
  }

  /// Which end of a buffer a page is. Software bits: the device does not look at them.
  struct ends {
    bool first = false;
    bool last = false;
  };

  /// Enters one page. Precondition: aligned to its size, inside the space, nothing mapped there.
  void set(uint64_t iova, uint64_t pa, unsigned page_log2, ends e) noexcept {
    const uint64_t flags = (e.first ? first_bit : 0) | (e.last ? last_bit : 0);
    words_[index(iova)].store(pa | size_code(page_log2) | flags | valid_bit, at<site::table_set>);
  }

  /// True when [iova, iova + bytes) is one buffer, from its first page to its last.
  [[nodiscard]] bool is_buffer(uint64_t iova, uint64_t bytes) const noexcept {
    if (bytes == 0 || !inside(iova) || !inside(iova + bytes - 1) || iova + bytes < iova) return false;
    for (uint64_t done = 0;;) {
      const uint64_t w = words_[index(iova + done)].load(at<site::table_walk>);
      if ((w & valid_bit) == 0 || ((w & first_bit) != 0) != (done == 0)) return false;
      done += uint64_t{1} << size_of(w);
      if (done >= bytes || (w & last_bit) != 0) return done == bytes && (w & last_bit) != 0;
    }
  }

  /// Clears the page that begins at `iova`, inside the space; returns log2 of its size, 0 when none begins there. Of
  /// several callers one gets the page.
  unsigned clear(uint64_t iova) noexcept {
    const uint64_t old = words_[index(iova)].exchange(0, at<site::table_clear>);
    return (old & valid_bit) != 0 ? size_of(old) : 0;
  }

  /// What the device's walker finds now. At most three loads.
  [[nodiscard]] translation walk(uint64_t iova) const noexcept {
    if (!inside(iova)) return {};
    constexpr unsigned sizes[] = {log2_2m, log2_64k, log2_4k};
    for (const unsigned log2 : sizes) {
      const uint64_t low = (uint64_t{1} << log2) - 1;
      const uint64_t w = words_[index(iova & ~low)].load(at<site::table_walk>);
      if ((w & valid_bit) != 0 && size_of(w) == log2) return {true, (w & address_bits) | (iova & low), log2};
    }
    return {};
  }

  [[nodiscard]] uint64_t base() const noexcept { return base_; }
  [[nodiscard]] bool inside(uint64_t iova) const noexcept { return (iova - base_) >> log2_4k < pages_; }

 private:
  using word = typename P::template atomic<uint64_t>;
  static constexpr uint64_t valid_bit = 1;
  static constexpr uint64_t first_bit = 8;
  static constexpr uint64_t last_bit = 16;
  static constexpr uint64_t address_bits = 0x000ffffffffff000ULL;

  static constexpr uint64_t size_code(unsigned log2) noexcept {
    return log2 == log2_2m ? 4U : (log2 == log2_64k ? 2U : 0U);
  }
  static constexpr unsigned size_of(uint64_t w) noexcept {
    return (w & 4U) != 0 ? log2_2m : ((w & 2U) != 0 ? log2_64k : log2_4k);
  }
  [[nodiscard]] size_t index(uint64_t iova) const noexcept { return static_cast<size_t>((iova - base_) >> log2_4k); }

  word* words_ = nullptr;
  uint64_t base_ = 0;
  uint64_t pages_ = 0;
};

}  // namespace cmdq::dma

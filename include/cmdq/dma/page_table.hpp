// SPDX-License-Identifier: BSL-1.0
// A stand-in for an IO page table: it answers a walk with the translation and its page size, which is all that an IOTLB
// sees of a real one. One 64-bit word per 4 KiB page of the space; a larger page has its word where it begins.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/arena.hpp>
#include <cmdq/dma/page_policy.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq::dma {

inline constexpr unsigned most_address_bits = 52;  ///< of input and output addresses (SMMUv3 with 4 KiB pages, no LPA2)

/// What a walk finds. `valid` false: a translation fault.
struct translation {
  bool valid = false;
  uint64_t pa = 0;         ///< of the address asked for, offset included
  unsigned page_log2 = 0;  ///< size of the page that holds it
};

template <platform_type P>
class page_table {
 public:
  /// Takes 8 bytes per page. `base`: first IOVA, aligned to 2 MiB; the space ends at or below 2^52. Errors: misaligned,
  /// out_of_range, no_space.
  status init(arena& memory, uint64_t base, unsigned log2_pages) noexcept {
    if (!is_aligned(base, log2_2m)) return status::misaligned;
    if (log2_pages > 30) return status::out_of_range;
    constexpr uint64_t limit = uint64_t{1} << most_address_bits;
    if (base > limit || uint64_t{1} << (log2_pages + log2_4k) > limit - base) return status::out_of_range;
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
  /// A page that was entered once.
  struct page {
    bool known = false;  ///< there is one, although its translation may be gone (see withdraw())
    bool valid = false;  ///< the device finds it
    ends end;
    uint64_t pa = 0;
    unsigned log2 = log2_4k;
  };

  /// Enters one page. Precondition: aligned to its size, inside the space, nothing mapped there.
  void set(uint64_t iova, uint64_t pa, unsigned page_log2, ends e) noexcept {
    const uint64_t flags = (e.first ? first_bit : 0) | (e.last ? last_bit : 0);
    words_[index(iova)].store(pa | size_code(page_log2) | flags | valid_bit, at<site::table_set>);
  }

  /// What begins at `iova`.
  [[nodiscard]] page look(uint64_t iova) const noexcept {
    return inside(iova) ? unpacked(words_[index(iova)].load(at<site::table_walk>)) : page{};
  }

  /// Length of the buffer whose first page begins at `iova`; 0 when none does. Cost: a load per page.
  [[nodiscard]] uint64_t buffer_bytes(uint64_t iova) const noexcept {
    for (uint64_t done = 0;;) {
      const page p = look(iova + done);
      if (!p.known || p.end.first != (done == 0)) return 0;
      done += uint64_t{1} << p.log2;
      if (p.end.last) return done;
    }
  }

  /// Clears the page that begins at `iova`, inside the space, and tells what it was. Of several callers one gets it.
  page clear(uint64_t iova) noexcept { return unpacked(words_[index(iova)].exchange(0, at<site::table_clear>)); }

  /// Takes the translation away and leaves the page's place in its buffer. Precondition: a page begins at `iova`, and
  /// nobody else clears it.
  void withdraw(uint64_t iova) noexcept {
    words_[index(iova)].fetch_xor(valid_bit | withdrawn_bit, at<site::table_clear>);
  }

  /// What the device's walker finds now. At most three loads.
  [[nodiscard]] translation walk(uint64_t iova) const noexcept {
    if (!inside(iova)) return {};
    constexpr unsigned sizes[] = {log2_2m, log2_64k, log2_4k};
    for (const unsigned log2 : sizes) {
      const uint64_t low = (uint64_t{1} << log2) - 1;
      const page p = look(iova & ~low);
      if (p.valid && p.log2 == log2) return {true, p.pa | (iova & low), log2};
    }
    return {};
  }

  /// Buffers that are mapped. Cost: a load per page of the space.
  [[nodiscard]] uint64_t buffers() const noexcept {
    uint64_t n = 0;
    for (uint64_t i = 0; i < pages_; ++i) n += unpacked(words_[i].load(at<site::table_walk>)).end.first ? 1 : 0;
    return n;
  }

  [[nodiscard]] uint64_t base() const noexcept { return base_; }
  [[nodiscard]] uint64_t pages() const noexcept { return pages_; }
  [[nodiscard]] uint64_t bytes() const noexcept { return pages_ << log2_4k; }
  [[nodiscard]] bool inside(uint64_t iova) const noexcept { return iova >= base_ && iova - base_ < bytes(); }

 private:
  using word = typename P::template atomic<uint64_t>;
  static constexpr uint64_t valid_bit = 1;
  static constexpr uint64_t first_bit = 8;
  static constexpr uint64_t last_bit = 16;
  static constexpr uint64_t withdrawn_bit = 32;
  static constexpr uint64_t address_bits = 0x000ffffffffff000ULL;

  static constexpr uint64_t size_code(unsigned log2) noexcept {
    return log2 == log2_2m ? 4U : (log2 == log2_64k ? 2U : 0U);
  }
  static constexpr page unpacked(uint64_t w) noexcept {
    page p;
    p.known = (w & (valid_bit | withdrawn_bit)) != 0;
    p.valid = (w & valid_bit) != 0;
    p.end = {(w & first_bit) != 0, (w & last_bit) != 0};
    p.pa = w & address_bits;
    p.log2 = (w & 4U) != 0 ? log2_2m : ((w & 2U) != 0 ? log2_64k : log2_4k);
    return p;
  }
  [[nodiscard]] size_t index(uint64_t iova) const noexcept { return static_cast<size_t>((iova - base_) >> log2_4k); }

  word* words_ = nullptr;
  uint64_t base_ = 0;
  uint64_t pages_ = 0;
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// What a driver says about its device and its buffers.
#pragma once

#include <cmdq/dma/page_pool.hpp>

namespace cmdq::dma {

/// The device a buffer is for.
struct device {
  /// False: it never reaches a byte beyond its buffers (mapper_options::partial), no page of it is widened, and its
  /// unmaps are strict whatever the mapper's mode.
  bool trusted = true;
  page_policy pages;
  unsigned address_bits = 64;                ///< it cannot address 2^address_bits and above
  uint64_t most_per_segment = ~uint64_t{0};  ///< bytes of one segment of a scatter list that map_sg() merged
};

enum class mode : uint8_t { strict, lazy };

/// What becomes of a page that a buffer for an untrusted device fills only partly.
enum class partial_pages : uint8_t {
  bounce,  ///< a page of mapper_options::pool stands in for it; where none is left the map is refused
  refuse,  ///< the map is refused: buffers must be whole pages
  expose,  ///< the device reaches what else is in that page
};

/// Part of a buffer: physically contiguous memory, or what map_sg() made of several.
struct segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  friend constexpr bool operator==(const segment&, const segment&) = default;
};

/// Memory for CPU and device at once. `bytes`: whole pages.
struct coherent_memory {
  void* memory = nullptr;
  uint64_t iova = 0;
  uint64_t bytes = 0;
};

/// What an unmap into a gather says: of the batch that had to be synced to make room, and of the buffer itself.
struct gather_outcome {
  status earlier = status::ok;  ///< of the batch before: its ranges are given up where this is not ok
  status code = status::ok;     ///< of this buffer; ok: it is in the batch
  [[nodiscard]] bool ok() const noexcept { return earlier == status::ok && code == status::ok; }
};

/// Calls use(pa, bytes, offset) for each physically contiguous run of a list; `offset` is where it begins in the list's
/// block, which holds whole pages: runs that do not meet begin in pages of their own. Returns the block's size.
/// Precondition: the sum of all sizes, each rounded up by two pages, fits in 64 bits.
template <class Use>
constexpr uint64_t for_each_run(const segment* list, uint32_t n, const Use& use) noexcept {
  uint64_t end = 0;
  for (uint32_t i = 0; i < n;) {
    const uint64_t pa = list[i].address;
    uint64_t bytes = list[i].bytes;
    while (++i < n && list[i].address == pa + bytes) bytes += list[i].bytes;
    const uint64_t offset = end + (pa & ((uint64_t{1} << log2_4k) - 1));
    use(pa, bytes, offset);
    end = round_up(offset + bytes, log2_4k);
  }
  return end;
}

/// The list as a device sees it from `iova` on, laid out as by for_each_run(): `out`, which may be `list`, gets a
/// segment for each that does not meet the one before or that the device does not take in one with it. Returns how
/// many.
constexpr uint32_t joined_segments(const device& dev, const segment* list, uint32_t n, uint64_t iova,
                                   segment* out) noexcept {
  uint32_t used = 0;
  uint64_t end = iova;
  uint64_t pa_end = ~uint64_t{0};
  for (uint32_t i = 0; i < n; ++i) {
    const segment in = list[i];
    const uint64_t rest = in.address & ((uint64_t{1} << log2_4k) - 1);
    const uint64_t begin = in.address == pa_end ? end : round_up(end, log2_4k) + rest;
    pa_end = in.address + in.bytes;
    if (used != 0 && begin == end && out[used - 1].bytes <= dev.most_per_segment &&
        in.bytes <= dev.most_per_segment - out[used - 1].bytes) {
      out[used - 1].bytes += in.bytes;
    } else {
      out[used++] = {begin, in.bytes};
    }
    end = begin + in.bytes;
  }
  return used;
}

/// Bounce pages that keep the rest of a run's first and last page from the device.
constexpr uint64_t partial_pages_of(uint64_t pa, uint64_t bytes) noexcept {
  const bool head = !is_aligned(pa, log2_4k);
  const bool tail = !is_aligned(pa + bytes, log2_4k);
  const bool one_page = pa >> log2_4k == (pa + bytes - 1) >> log2_4k;
  return one_page ? (head || tail ? 1 : 0) : uint64_t{head} + uint64_t{tail};
}

}  // namespace cmdq::dma

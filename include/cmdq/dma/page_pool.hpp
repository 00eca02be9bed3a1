// SPDX-License-Identifier: BSL-1.0
// Memory that the layer may put before a device: pages that stand in for a buffer's partial ones (bounce pages), and
// coherent memory. The block is the user's; a page of it is never shared by two buffers.
#pragma once

#include <cmdq/dma/iova_space.hpp>
#include <cmdq/dma/page_policy.hpp>

namespace cmdq::dma {

/// Which way data goes; a bounce page is copied back only where the device may have written.
enum class direction : uint8_t { both, to_device, from_device };

/// A block of memory as the CPU and as the device see it. `pa` is aligned to 4 KiB.
struct pool_memory {
  unsigned char* memory = nullptr;
  uint64_t pa = 0;
  uint32_t pages = 0;
};

/// Where the CPU sees physical memory: at(context, pa) is valid up to the end of pa's 4 KiB page. Bounce pages need it.
struct memory_view {
  void* context = nullptr;
  unsigned char* (*at)(void* context, uint64_t pa) = nullptr;
};

template <platform_type P>
class page_pool {
 public:
  static constexpr uint32_t none = ~0U;

  /// No pages: everything is refused later. Errors: misaligned (pa), out_of_range (pages), no_space (arena),
  /// invalid_argument (no memory, no view).
  status init(arena& arena_memory, const pool_memory& block, const memory_view& view) noexcept {
    if (block.pages == 0) return status::ok;
    if (block.memory == nullptr) return status::invalid_argument;
    if (!is_aligned(block.pa, log2_4k)) return status::misaligned;
    if (block.pages > 1U << max_log2_pages) return status::out_of_range;
    unsigned log2 = 0;
    while ((1U << log2) < block.pages) ++log2;
    if (const status s = space_.init(arena_memory, log2); s != status::ok) return s;
    if (block.pages < 1U << log2) space_.reserve(block.pages, (1U << log2) - block.pages);
    slots_ = arena_memory.take<slot>(block.pages);
    if (slots_ == nullptr) return status::no_space;
    block_ = block;
    view_ = view;
    return status::ok;
  }

  /// `n` bounce pages as a chain, first one first; none when there are not so many. n = 0: none.
  uint32_t take_chain(uint64_t n) noexcept {
    uint32_t first = none;
    for (uint64_t i = 0; i < n; ++i) {
      const uint32_t page = view_.at == nullptr || slots_ == nullptr ? no_page : space_.allocate({});
      if (page == no_page) {
        give_back(first);
        return none;
      }
      slots_[page].next = first;
      slots_[page].bytes = 0;
      first = page;
    }
    return first;
  }

  /// Makes page `i` stand in for [pa, pa + bytes), which lies in one page: zeroes and the buffer's own bytes.
  void fill(uint32_t i, uint64_t pa, uint32_t bytes, direction way) noexcept {
    slot& s = slots_[i];
    s.pa = pa;
    s.bytes = bytes;
    s.copies_back = way != direction::to_device;
    unsigned char* const page = memory(i);
    for (uint32_t at_byte = 0; at_byte < page_bytes; ++at_byte) page[at_byte] = 0;
    copy(page + offset(pa), view_.at(view_.context, pa), bytes);
  }
  /// The bytes [low, high) of page `i`, as far as they are the buffer's: from it, or into it where the device may have
  /// written.
  void copy_in(uint32_t i, uint32_t low, uint32_t high) noexcept {
    const slot& s = slots_[i];
    clip(s, low, high);
    if (low < high) copy(memory(i) + low, view_.at(view_.context, s.pa) + (low - offset(s.pa)), high - low);
  }
  void copy_back(uint32_t i, uint32_t low = 0, uint32_t high = page_bytes) noexcept {
    const slot& s = slots_[i];
    clip(s, low, high);
    if (!s.copies_back || low >= high) return;
    copy(view_.at(view_.context, s.pa) + (low - offset(s.pa)), memory(i) + low, high - low);
  }
  /// The device reaches page `i` no more, but its block is not unmapped yet.
  void settle(uint32_t i) noexcept {
    copy_back(i);
    slots_[i].copies_back = false;
  }
  /// The chain's pages are free again.
  void give_back(uint32_t first) noexcept {
    while (first != none) {
      const uint32_t next = slots_[first].next;
      slots_[first].bytes = 0;
      space_.free(&first, 1, 1);
      first = next;
    }
  }

  /// `n` consecutive zeroed pages, the first one's number; none when there are not so many.
  uint32_t take(uint64_t n) noexcept {
    const uint32_t first = slots_ == nullptr ? no_page : space_.allocate({.pages = n});
    if (first == no_page) return none;
    for (uint32_t i = first; i < first + n; ++i) slots_[i].bytes = 0;
    unsigned char* const begin = memory(first);
    for (uint64_t at_byte = 0; at_byte < n * page_bytes; ++at_byte) begin[at_byte] = 0;
    return first;
  }
  void give(uint32_t first, uint64_t n) noexcept { space_.free(&first, 1, n); }

  /// The bounce page at `pa`; none where `pa` is not one.
  [[nodiscard]] uint32_t bounce_at(uint64_t pa) const noexcept {
    const uint32_t i = page_at(pa);
    return i != none && slots_[i].bytes != 0 ? i : none;
  }
  [[nodiscard]] uint32_t page_at(uint64_t pa) const noexcept {
    return pa >= block_.pa && (pa - block_.pa) >> log2_4k < block_.pages
               ? static_cast<uint32_t>((pa - block_.pa) >> log2_4k)
               : none;
  }
  void link(uint32_t i, uint32_t next) noexcept { slots_[i].next = next; }
  [[nodiscard]] uint32_t next(uint32_t i) const noexcept { return slots_[i].next; }
  [[nodiscard]] uint64_t pa(uint32_t i) const noexcept { return block_.pa + (uint64_t{i} << log2_4k); }
  [[nodiscard]] unsigned char* memory(uint32_t i) const noexcept { return block_.memory + size_t{i} * page_bytes; }
  [[nodiscard]] uint64_t used_pages() noexcept { return space_.used_pages(); }

 private:
  static constexpr uint32_t page_bytes = 1U << log2_4k;
  struct slot {
    uint64_t pa = 0;
    uint32_t bytes = 0;  ///< 0: no bounce page
    uint32_t next = none;
    bool copies_back = false;
  };
  static void clip(const slot& s, uint32_t& low, uint32_t& high) noexcept {
    const uint32_t first = offset(s.pa);
    if (low < first) low = first;
    if (high > first + s.bytes) high = first + s.bytes;
  }
  static constexpr uint32_t offset(uint64_t pa) noexcept { return static_cast<uint32_t>(pa & (page_bytes - 1)); }
  static void copy(unsigned char* to, const unsigned char* from, uint32_t n) noexcept {
    for (uint32_t i = 0; i < n; ++i) to[i] = from[i];
  }

  iova_space<P> space_;
  pool_memory block_;
  memory_view view_;
  slot* slots_ = nullptr;
};

}  // namespace cmdq::dma

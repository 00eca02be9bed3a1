// SPDX-License-Identifier: BSL-1.0
// The range allocator below the magazines: a buddy tree over a bounded IOVA space. Blocks are powers of two and
// naturally aligned, so a buffer that may use 2 MiB pages gets an address that allows them. One byte per tree node says
// how large a block is free below it; the memory is the user's.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/arena.hpp>
#include <cmdq/dma/spin_lock.hpp>

namespace cmdq::dma {

inline constexpr unsigned max_log2_pages = 30;
inline constexpr uint32_t no_page = ~0U;

/// Smallest order whose block holds `pages`; 0 for 0 and 1.
constexpr unsigned order_for(uint64_t pages) noexcept {
  unsigned order = 0;
  while (order < 63 && (uint64_t{1} << order) < pages) ++order;
  return order;
}

template <platform_type P>
class iova_space {
 public:
  /// Takes 2 * 2^log2_pages - 1 bytes. Errors: out_of_range (log2_pages), no_space (arena too small).
  status init(arena& memory, unsigned log2_pages) noexcept {
    if (log2_pages > max_log2_pages) return status::out_of_range;
    const uint32_t nodes = (2U << log2_pages) - 1;
    free_ = memory.take<uint8_t>(nodes);
    if (free_ == nullptr) return status::no_space;
    log2_ = log2_pages;
    for (unsigned level = 0; level <= log2_pages; ++level) {
      const uint32_t first = (1U << level) - 1;
      for (uint32_t i = 0; i < 1U << level; ++i) free_[first + i] = whole(log2_pages - level);
    }
    return status::ok;
  }

  /// First page of a free, aligned block of 2^order pages, lowest address first; no_page when there is none.
  /// Cost: one lock, O(log pages).
  uint32_t allocate(unsigned order) noexcept {
    const holding guard(lock_);
    ++operations_;
    if (order > log2_ || free_[0] < whole(order)) return no_page;
    uint32_t node = 0;
    for (unsigned o = log2_; o > order; --o) node = 2 * node + (free_[2 * node + 1] >= whole(order) ? 1U : 2U);
    free_[node] = 0;
    const uint32_t page = ((node + 1) << order) - (1U << log2_);
    climb(node, order);
    used_ += uint64_t{1} << order;
    return page;
  }

  /// Gives `count` blocks back under one lock. False when any of them is not exactly a block that allocate() returned
  /// and that is still out; such a block is left alone.
  bool free(const uint32_t* pages, uint32_t count, unsigned order) noexcept {
    const holding guard(lock_);
    ++operations_;
    bool all = true;
    for (uint32_t i = 0; i < count; ++i) all = free_one(pages[i], order) && all;
    return all;
  }

  [[nodiscard]] unsigned log2_pages() const noexcept { return log2_; }
  /// Pages that are out, those in magazines included.
  [[nodiscard]] uint64_t used_pages() noexcept {
    const holding guard(lock_);
    return used_;
  }
  /// How often the lock of the space was taken to allocate or free: what the magazines are there to save.
  [[nodiscard]] uint64_t operations() noexcept {
    const holding guard(lock_);
    return operations_;
  }

 private:
  static constexpr uint8_t whole(unsigned order) noexcept { return static_cast<uint8_t>(order + 1); }

  bool free_one(uint32_t page, unsigned order) noexcept {
    if (order > log2_ || page >> log2_ != 0 || (page & ((1U << order) - 1)) != 0) return false;
    const uint32_t node = ((page + (1U << log2_)) >> order) - 1;
    // An allocated block is 0 with untouched nodes below it; a split one has a 0 below, one inside a larger
    // allocated block is not 0 itself.
    const bool out =
        free_[node] == 0 &&
        (order == 0 || (free_[2 * node + 1] == whole(order - 1) && free_[2 * node + 2] == whole(order - 1)));
    if (!out) return false;
    free_[node] = whole(order);
    climb(node, order);
    used_ -= uint64_t{1} << order;
    return true;
  }

  void climb(uint32_t node, unsigned order) noexcept {
    while (node != 0) {
      node = (node - 1) / 2;
      const uint8_t left = free_[2 * node + 1];
      const uint8_t right = free_[2 * node + 2];
      const bool merge = left == whole(order) && right == whole(order);
      ++order;
      free_[node] = merge ? whole(order) : (left > right ? left : right);
    }
  }

  spin_lock<P> lock_;
  uint8_t* free_ = nullptr;
  unsigned log2_ = 0;
  uint64_t used_ = 0;
  uint64_t operations_ = 0;
};

}  // namespace cmdq::dma

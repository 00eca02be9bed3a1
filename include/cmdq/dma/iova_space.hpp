// SPDX-License-Identifier: BSL-1.0
// The range allocator below the magazines: blocks of any number of pages, lowest address first, in a bounded space.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/run_tree.hpp>
#include <cmdq/dma/spin_lock.hpp>

namespace cmdq::dma {

/// A block that is wanted.
struct wish {
  uint64_t pages = 1;
  unsigned align = 0;        ///< huge_order: begins at a multiple of 2 MiB; else a preference, log2 of pages
  uint32_t from = 0;         ///< first page that is preferred; below it only when there is none above
  uint32_t limit = no_page;  ///< the block ends at or below this page
};

template <platform_type P>
class iova_space {
 public:
  /// Takes about 0.75 bytes per page. `hole_percent`: how much of the space blocks that begin at a multiple of 2 MiB
  /// may leave unused behind them. Errors: out_of_range (log2_pages, hole_percent), no_space (arena too small).
  status init(arena& memory, unsigned log2_pages, unsigned hole_percent = 5) noexcept {
    if (log2_pages > max_log2_pages || hole_percent > 100) return status::out_of_range;
    pages_ = 1U << log2_pages;
    begins_ = memory.take<uint64_t>((pages_ + run_tree::pages_per_word - 1) / run_tree::pages_per_word);
    if (begins_ == nullptr || !free_.init(memory, log2_pages)) return status::no_space;
    most_holes_ = pages_ / 100 * hole_percent + pages_ % 100 * hole_percent / 100;
    log2_ = log2_pages;
    largest_ = pages_;
    return status::ok;
  }

  /// First page of a free block, no_page when there is none, or when the holes it leaves would be too many. Cost: one
  /// lock, O(log pages).
  uint32_t allocate(const wish& w) noexcept {
    const holding guard(lock_);
    ++operations_;
    if (w.pages == 0 || w.pages > pages_) return no_page;
    const auto n = static_cast<uint32_t>(w.pages);
    if (w.align == huge_order && holes_ + hole_of(0, n) > most_holes_) return no_page;
    uint32_t page = find(n, w, w.from);
    if (page == no_page && w.from != 0) page = find(n, w, 0);
    if (page != no_page) mark(page, n);
    return page;
  }

  /// Gives `count` blocks of `pages` pages back under one lock. False when any of them is not exactly a block that
  /// allocate() returned and that is still out; such a block is left alone.
  bool free(const uint32_t* first, uint32_t count, uint64_t pages) noexcept {
    const holding guard(lock_);
    ++operations_;
    bool sound = true;
    for (uint32_t i = 0; i < count; ++i) sound = free_one(first[i], pages) && sound;
    return sound;
  }

  /// Takes [first, first + pages) out for good. False when some of it is out already.
  bool reserve(uint32_t first, uint32_t pages) noexcept {
    const holding guard(lock_);
    if (!free_.all(first, pages, true)) return false;
    free_.set(first, pages, false);
    for (uint32_t i = first; i < first + pages; ++i)
      set_begin(i, true);  // no block runs into it, none is freed from it
    reserved_ += pages;
    if (used_ == 0) largest_ = free_.longest();
    return true;
  }

  /// Pages up to the next multiple of 2 MiB behind a block that begins at such a multiple for the sake of 2 MiB pages.
  static constexpr uint64_t hole_of(uint64_t page, uint64_t n) noexcept {
    return (page & huge_low) != 0 || n <= huge_low ? 0 : (0 - n) & huge_low;
  }
  /// Pages that such holes may take up together.
  [[nodiscard]] uint64_t most_holes() const noexcept { return most_holes_; }

  [[nodiscard]] unsigned log2_pages() const noexcept { return log2_; }
  /// No larger block can ever be had, whatever is given back.
  [[nodiscard]] uint32_t largest() const noexcept { return largest_; }
  /// Pages that are out, those in magazines included, those reserved not.
  [[nodiscard]] uint64_t used_pages() noexcept {
    const holding guard(lock_);
    return used_;
  }
  [[nodiscard]] uint64_t reserved_pages() noexcept {
    const holding guard(lock_);
    return reserved_;
  }
  /// How often the lock of the space was taken to allocate or free: what the magazines are there to save.
  [[nodiscard]] uint64_t operations() noexcept {
    const holding guard(lock_);
    return operations_;
  }

 private:
  static constexpr uint64_t huge_low = (uint64_t{1} << huge_order) - 1;

  uint32_t find(uint32_t n, const wish& w, uint32_t from) const noexcept {
    const auto fits = [&](uint32_t page) { return page != no_page && page <= w.limit && n <= w.limit - page; };
    if (w.align == huge_order) {
      const uint32_t page = free_.find(n, huge_order, from);
      return fits(page) ? page : no_page;
    }
    const uint32_t any = free_.find(n, 0, from);
    const uint32_t low = (1U << w.align) - 1;
    if (!fits(any) || (any & low) == 0) return fits(any) ? any : no_page;
    const uint32_t roomy = free_.find(n + low, 0, from);
    const uint32_t page = roomy == no_page ? any : (roomy + low) & ~low;
    return fits(page) ? page : any;
  }

  void mark(uint32_t page, uint32_t n) noexcept {
    free_.set(page, n, false);
    set_begin(page, true);
    used_ += n;
    holes_ += hole_of(page, n);
  }

  bool free_one(uint32_t page, uint64_t pages) noexcept {
    if (pages == 0 || page >= pages_ || pages > pages_ - page) return false;
    const auto n = static_cast<uint32_t>(pages);
    if (!is_block(page, n)) return false;
    set_begin(page, false);
    free_.set(page, n, true);
    used_ -= n;
    holes_ -= hole_of(page, n);
    return true;
  }

  /// Out, begins here, no other begins inside, and the next page is free, another block's first one, or none.
  [[nodiscard]] bool is_block(uint32_t page, uint32_t n) const noexcept {
    if (!begins(page) || !free_.all(page, n, false)) return false;
    if (n > 1) {
      for (uint32_t i = (page + 1) / run_tree::pages_per_word; i <= (page + n - 1) / run_tree::pages_per_word; ++i)
        if ((begins_[i] & run_tree::bits_in(i, page + 1, n - 1)) != 0) return false;
    }
    return page + n == pages_ || begins(page + n) || free_.all(page + n, 1, true);
  }
  [[nodiscard]] bool begins(uint32_t page) const noexcept {
    return (begins_[page / run_tree::pages_per_word] >> (page % run_tree::pages_per_word) & 1U) != 0;
  }

  void set_begin(uint32_t page, bool on) noexcept {
    const uint64_t bit = uint64_t{1} << (page % run_tree::pages_per_word);
    uint64_t& word = begins_[page / run_tree::pages_per_word];
    word = on ? word | bit : word & ~bit;
  }

  spin_lock<P> lock_;
  run_tree free_;
  uint64_t* begins_ = nullptr;  ///< a bit per page: a block begins here
  uint32_t pages_ = 0;
  unsigned log2_ = 0;
  uint32_t largest_ = 0;
  uint32_t most_holes_ = 0;
  uint64_t holes_ = 0;
  uint64_t used_ = 0;
  uint64_t reserved_ = 0;
  uint64_t operations_ = 0;
};

}  // namespace cmdq::dma

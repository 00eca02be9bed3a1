// SPDX-License-Identifier: BSL-1.0
// IOVA allocation: per-CPU magazines over a depot over the range allocator. Blocks of 1, 2, 4 .. pages are cached in
// magazines of 127; each CPU keeps two per size, so that it does not go to the depot at every boundary. A CPU that only
// frees hands full magazines to the depot, one that only allocates takes them from there: neither touches the range
// allocator in the steady state. Larger buffers take exactly their pages from the range allocator.
#pragma once

#include <cmdq/dma/iova_space.hpp>

namespace cmdq::dma {

inline constexpr uint32_t magazine_entries = 127;
inline constexpr unsigned most_size_classes = 11;  ///< up to 1024 pages

struct iova_options {
  uint32_t cpus = 1;  ///< CPU numbers 0 .. cpus-1; one number may be shared by threads, at the cost of its lock
  uint32_t depot_magazines = 64;  ///< full magazines that the depot can hold, all sizes together
  unsigned log2_pages = 20;       ///< size of the IOVA space
  unsigned size_classes = 6;      ///< cached: 1, 2, 4 .. 2^(size_classes - 1) pages; 1 KiB per class and CPU
  unsigned hole_percent = 5;      ///< share of the space that may stay unused so that buffers can have 2 MiB pages
};

inline constexpr uint32_t max_cpus = 4096;
inline constexpr uint32_t max_depot_magazines = 1U << 16;

/// Smallest order whose block holds `pages`; 0 for 0 and 1.
constexpr unsigned order_for(uint64_t pages) noexcept {
  unsigned order = 0;
  while (order < 63 && (uint64_t{1} << order) < pages) ++order;
  return order;
}

template <platform_type P>
class iova_cache {
 public:
  /// Errors: out_of_range (cpus, depot_magazines, log2_pages, size_classes, hole_percent), no_space (arena too small).
  status init(arena& memory, const iova_options& options) noexcept {
    if (options.cpus == 0 || options.cpus > max_cpus || options.depot_magazines > max_depot_magazines ||
        options.size_classes > most_size_classes) {
      return status::out_of_range;
    }
    if (const status s = space_.init(memory, options.log2_pages, options.hole_percent); s != status::ok) return s;
    cpus_ = options.cpus;
    classes_ = options.size_classes;
    const uint32_t held = cpus_ * classes_ * 2;
    if (held + options.depot_magazines != 0) magazines_ = memory.take<magazine>(held + options.depot_magazines);
    cpu_ = memory.take<cpu_part>(cpus_);
    if ((held != 0 && magazines_ == nullptr) || cpu_ == nullptr) return status::no_space;
    uint32_t next = 0;
    for (uint32_t c = 0; c < cpus_; ++c) {
      for (unsigned order = 0; order < classes_; ++order) cpu_[c].of[order] = {next, next + 1}, next += 2;
    }
    if (magazines_ == nullptr) return status::ok;
    for (uint32_t i = 0; i < options.depot_magazines; ++i) push(empties_, held + i);
    return status::ok;
  }

  /// First page of a block, no_page when there is none even after all magazines were given back. A cached size ignores
  /// `align`: its blocks of 16 pages and more begin at a multiple of 16, those of 512 and more at one of 512, where
  /// there is such a place. Cost: one uncontended lock in the common case.
  uint32_t allocate(uint32_t cpu, const wish& w) noexcept {
    const uint32_t page = allocate_now(cpu, w);
    if (page != no_page || w.pages > space_.largest()) return page;
    drain();
    return allocate_now(cpu, w);
  }

  /// The same, but takes nothing from other CPUs' magazines.
  uint32_t allocate_now(uint32_t cpu, const wish& w) noexcept {
    const unsigned order = order_for(w.pages);
    if (order >= classes_) return space_.allocate(w);
    const uint32_t page = from_magazine(cpu, order, w.limit);
    if (page != no_page) return page;
    wish block = w;
    block.pages = uint64_t{1} << order;
    block.align = order >= huge_order ? huge_order : (order >= medium_order ? medium_order : 0);
    const uint32_t found = space_.allocate(block);
    if (found != no_page || block.align != huge_order) return found;
    block.align = 0;
    return space_.allocate(block);
  }

  /// Gives a block back; `pages` as allocated. False when the block is known not to be out (a cached block is checked
  /// only when its magazine returns to the space).
  bool free(uint32_t cpu, uint32_t page, uint64_t pages) noexcept {
    const unsigned order = order_for(pages);
    if (order >= classes_) return space_.free(&page, 1, pages);
    cpu_part& part = cpu_[cpu % cpus_];
    const holding guard(part.lock);
    held_pair& pair = part.of[order];
    bool sound = true;
    if (magazines_[pair.loaded].count == magazine_entries) {
      swap(pair);
      if (magazines_[pair.loaded].count == magazine_entries) sound = unload(pair.loaded, order);
    }
    magazine& m = magazines_[pair.loaded];
    m.page[m.count++] = page;
    return sound;
  }

  /// Gives everything that magazines hold back to the space. False when a block in them was not out.
  bool drain() noexcept {
    bool sound = true;
    for (uint32_t c = 0; c < cpus_; ++c) {
      for (unsigned order = 0; order < classes_; ++order) {
        const holding guard(cpu_[c].lock);  // taken for each size: interrupts are not masked for long
        sound = give_back(cpu_[c].of[order].loaded, order) && sound;
        sound = give_back(cpu_[c].of[order].previous, order) && sound;
      }
    }
    for (unsigned order = 0; order < classes_; ++order) {
      for (uint32_t full = pop(depot_[order]); full != none; full = pop(depot_[order])) {
        sound = give_back(full, order) && sound;
        push(empties_, full);
      }
    }
    return sound;
  }

  /// Pages of the largest blocks that magazines hold; 0: none are held.
  [[nodiscard]] uint64_t largest_cached() const noexcept { return classes_ == 0 ? 0 : uint64_t{1} << (classes_ - 1); }
  /// Pages that a block for `pages` takes from the space.
  [[nodiscard]] uint64_t pages_taken(uint64_t pages) const noexcept {
    return pages <= largest_cached() ? uint64_t{1} << order_for(pages) : pages;
  }
  [[nodiscard]] uint32_t cpus() const noexcept { return cpus_; }
  iova_space<P>& space() noexcept { return space_; }
  const iova_space<P>& space() const noexcept { return space_; }

 private:
  static constexpr uint32_t none = ~0U;
  static constexpr unsigned medium_order = 4;  ///< 64 KiB

  struct magazine {
    uint32_t count = 0;
    uint32_t next = none;
    uint32_t page[magazine_entries];
  };
  struct held_pair {
    uint32_t loaded = none;
    uint32_t previous = none;
  };
  struct alignas(128) cpu_part {
    spin_lock<P> lock;
    held_pair of[most_size_classes];
  };
  struct alignas(128) stack {
    spin_lock<P> lock;
    uint32_t top = none;
  };

  static void swap(held_pair& pair) noexcept { pair = {pair.previous, pair.loaded}; }

  uint32_t pop(stack& s) noexcept {
    const holding guard(s.lock);
    const uint32_t m = s.top;
    if (m != none) s.top = magazines_[m].next;
    return m;
  }
  void push(stack& s, uint32_t m) noexcept {
    const holding guard(s.lock);
    magazines_[m].next = s.top;
    s.top = m;
  }

  uint32_t from_magazine(uint32_t cpu, unsigned order, uint32_t limit) noexcept {
    cpu_part& part = cpu_[cpu % cpus_];
    const holding guard(part.lock);
    held_pair& pair = part.of[order];
    if (magazines_[pair.loaded].count == 0) {
      swap(pair);
      if (magazines_[pair.loaded].count == 0) {
        const uint32_t full = pop(depot_[order]);
        if (full == none) return no_page;
        push(empties_, pair.loaded);
        pair.loaded = full;
      }
    }
    const uint32_t page = take_below(magazines_[pair.loaded], order, limit);
    return page != no_page ? page : take_below(magazines_[pair.previous], order, limit);
  }

  /// The last block that ends at or below `limit`.
  static uint32_t take_below(magazine& m, unsigned order, uint32_t limit) noexcept {
    for (uint32_t i = m.count; i-- != 0;) {
      const uint32_t page = m.page[i];
      if (page > limit || 1U << order > limit - page) continue;
      m.page[i] = m.page[--m.count];
      return page;
    }
    return no_page;
  }

  /// Makes room in the full magazine `m`: exchanges it for an empty one, or, when the depot has none left, gives its
  /// blocks back under one lock of the space.
  bool unload(uint32_t& m, unsigned order) noexcept {
    const uint32_t empty = pop(empties_);
    if (empty == none) return give_back(m, order);
    push(depot_[order], m);
    m = empty;
    return true;
  }

  bool give_back(uint32_t index, unsigned order) noexcept {
    magazine& m = magazines_[index];
    if (m.count == 0) return true;
    const bool sound = space_.free(m.page, m.count, uint64_t{1} << order);
    m.count = 0;
    return sound;
  }

  iova_space<P> space_;
  magazine* magazines_ = nullptr;
  cpu_part* cpu_ = nullptr;
  uint32_t cpus_ = 0;
  unsigned classes_ = 0;
  stack depot_[most_size_classes];
  stack empties_;
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// IOVA allocation: per-CPU magazines over a depot over the range allocator. Blocks of 1, 2, 4 .. 32 pages are cached in
// magazines of 127; each CPU keeps two per size, so that it does not go to the depot at every boundary. A CPU that only
// frees hands full magazines to the depot, one that only allocates takes them from there: neither touches the range
// allocator in the steady state.
#pragma once

#include <cmdq/dma/iova_space.hpp>

namespace cmdq::dma {

inline constexpr uint32_t magazine_entries = 127;
inline constexpr unsigned size_classes = 6;  ///< 1, 2, 4, 8, 16, 32 pages

struct iova_options {
  uint32_t cpus = 1;  ///< CPU numbers 0 .. cpus-1; one number may be shared by threads, at the cost of its lock
  uint32_t depot_magazines = 64;  ///< full magazines that the depot can hold, all sizes together
  unsigned log2_pages = 20;       ///< size of the IOVA space
};

inline constexpr uint32_t max_cpus = 4096;
inline constexpr uint32_t max_depot_magazines = 1U << 16;

template <platform_type P>
class iova_cache {
 public:
  /// Errors: out_of_range (cpus, depot_magazines, log2_pages), no_space (arena too small).
  status init(arena& memory, const iova_options& options) noexcept {
    if (options.cpus == 0 || options.cpus > max_cpus || options.depot_magazines > max_depot_magazines) {
      return status::out_of_range;
    }
    if (const status s = space_.init(memory, options.log2_pages); s != status::ok) return s;
    cpus_ = options.cpus;
    const uint32_t held = cpus_ * size_classes * 2;
    magazines_ = memory.take<magazine>(held + options.depot_magazines);
    cpu_ = memory.take<cpu_part>(cpus_);
    if (magazines_ == nullptr || cpu_ == nullptr) return status::no_space;
    uint32_t next = 0;
    for (uint32_t c = 0; c < cpus_; ++c) {
      for (auto& pair : cpu_[c].of) pair = {next, next + 1}, next += 2;
    }
    for (uint32_t i = 0; i < options.depot_magazines; ++i) push(empties_, held + i);
    return status::ok;
  }

  /// First page of an aligned block of order_for(pages), no_page when the space is exhausted even after all magazines
  /// were given back. Cost: one uncontended lock in the common case.
  uint32_t allocate(uint32_t cpu, uint64_t pages) noexcept {
    const unsigned order = order_for(pages);
    uint32_t page = order < size_classes ? from_magazine(cpu, order) : no_page;
    if (page == no_page) page = space_.allocate(order);
    if (page != no_page) return page;
    drain();
    return space_.allocate(order);
  }

  /// Gives a block back; `pages` as allocated. False when the block is known not to be out (a cached block is checked
  /// only when its magazine returns to the space).
  bool free(uint32_t cpu, uint32_t page, uint64_t pages) noexcept {
    const unsigned order = order_for(pages);
    if (order >= size_classes) return space_.free(&page, 1, order);
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
      const holding guard(cpu_[c].lock);
      for (unsigned order = 0; order < size_classes; ++order) {
        sound = give_back(cpu_[c].of[order].loaded, order) && sound;
        sound = give_back(cpu_[c].of[order].previous, order) && sound;
      }
    }
    for (unsigned order = 0; order < size_classes; ++order) {
      for (uint32_t full = pop(depot_[order]); full != none; full = pop(depot_[order])) {
        sound = give_back(full, order) && sound;
        push(empties_, full);
      }
    }
    return sound;
  }

  [[nodiscard]] uint32_t cpus() const noexcept { return cpus_; }
  iova_space<P>& space() noexcept { return space_; }

 private:
  static constexpr uint32_t none = ~0U;

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
    held_pair of[size_classes];
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

  uint32_t from_magazine(uint32_t cpu, unsigned order) noexcept {
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
    magazine& m = magazines_[pair.loaded];
    return m.page[--m.count];
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
    const bool sound = space_.free(m.page, m.count, order);
    m.count = 0;
    return sound;
  }

  iova_space<P> space_;
  magazine* magazines_ = nullptr;
  cpu_part* cpu_ = nullptr;
  uint32_t cpus_ = 0;
  stack depot_[size_classes];
  stack empties_;
};

}  // namespace cmdq::dma

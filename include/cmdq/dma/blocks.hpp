// SPDX-License-Identifier: BSL-1.0
// Blocks of IOVA space and what they are mapped to: everything of a map or unmap but the invalidation.
#pragma once

#include <cmdq/dma/device.hpp>
#include <cmdq/dma/gather.hpp>
#include <cmdq/dma/iova_cache.hpp>
#include <cmdq/dma/page_table.hpp>

namespace cmdq::dma {

struct mapper_options {
  uint64_t base = uint64_t{1} << log2_2m;  ///< first IOVA; aligned to 2 MiB
  unsigned input_bits = 48;                ///< IOVAs are below 2^input_bits (what the translation tables resolve)
  unsigned output_bits = 48;               ///< physical addresses are below 2^output_bits (IDR5.OAS)
  partial_pages partial = partial_pages::bounce;
  pool_memory pool{};  ///< for bounce pages and alloc(); none: both are refused
  memory_view view{};  ///< bounce pages need it
  iova_options iova{};
};

template <platform_type P>
class blocks {
 public:
  /// What a list of segments needs.
  struct shape {
    uint64_t bytes = 0;    ///< whole pages
    uint64_t rounded = 0;  ///< with huge_pages::always, where it can be had
    unsigned align = 0;
    uint64_t bounced = 0;
  };
  struct block {
    uint64_t iova = 0;
    uint64_t bytes = 0;  ///< 0: none
  };

  refusal init(arena& memory, const mapper_options& o) noexcept {
    const auto bits = [](const char* what, unsigned v) {
      return v < 32 || v > most_address_bits ? refusal{status::out_of_range, what, v, most_address_bits} : refusal{};
    };
    if (const refusal why = bits("input_bits", o.input_bits); why.code != status::ok) return why;
    if (const refusal why = bits("output_bits", o.output_bits); why.code != status::ok) return why;
    if (o.iova.log2_pages > max_log2_pages)
      return {status::out_of_range, "log2_pages", o.iova.log2_pages, max_log2_pages};
    const uint64_t reach = uint64_t{1} << o.input_bits;
    const uint64_t space = uint64_t{1} << (o.iova.log2_pages + log2_4k);
    if (!is_aligned(o.base, log2_2m)) return {status::misaligned, "base", o.base, uint64_t{1} << log2_2m};
    if (space > reach || o.base > reach - space)
      return {status::out_of_range, "base", o.base, space > reach ? 0 : reach - space};
    const uint64_t output = uint64_t{1} << o.output_bits;
    const uint64_t pool_bytes = uint64_t{o.pool.pages} << log2_4k;
    if (o.pool.pa >= output || pool_bytes > output - o.pool.pa)
      return {status::out_of_range, "pool.pa", o.pool.pa, output};
    if (const status s = table_.init(memory, o.base, o.iova.log2_pages); s != status::ok)
      return {s, "page table", memory.left(), space >> log2_4k << 3};
    if (const status s = iova_.init(memory, o.iova); s != status::ok) return {s, "iova", memory.left(), 0};
    if (const status s = pool_.init(memory, o.pool, o.view); s != status::ok) return {s, "pool", o.pool.pages, 0};
    output_ = output;
    partial_ = o.partial;
    pool_begin_ = o.pool.pa;
    pool_bytes_ = pool_bytes;
    return {};
  }

  /// Keeps [iova, iova + bytes) out of use for good, as far as it is in the space.
  refusal reserve(uint64_t iova, uint64_t bytes) noexcept {
    if (bytes == 0 || iova + (bytes - 1) < iova) return {status::invalid_argument, "bytes", bytes, 0 - iova};
    const uint64_t last_of_space = table_.base() + (table_.bytes() - 1);
    const uint64_t last = iova + (bytes - 1) < last_of_space ? iova + (bytes - 1) : last_of_space;
    const uint64_t first = iova > table_.base() ? iova : table_.base();
    if (first > last) return {};
    const auto page = static_cast<uint32_t>((first - table_.base()) >> log2_4k);
    const auto end = static_cast<uint32_t>((last - table_.base()) >> log2_4k) + 1;
    iova_.drain();
    if (!iova_.space().reserve(page, end - page)) return {status::invalid_argument, "iova", iova, first};
    return {};
  }

  /// Checks a list for a device. Errors: invalid_argument (no segment, an empty one, memory of the pool), out_of_range
  /// (beyond the output size), no_space (never enough room), misaligned (a partial page that is refused).
  result<shape> measure(const device& dev, const segment* list, uint32_t n) const noexcept {
    if (n == 0 || list == nullptr) return refusal{status::invalid_argument, "segments", n, 1};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const segment& s = list[i];
      if (s.bytes == 0) return refusal{status::invalid_argument, "bytes", 0, 1};
      if (s.address >= output_ || s.bytes > output_ - s.address)
        return refusal{status::out_of_range, "pa", s.address, output_};
      if (s.address < pool_begin_ + pool_bytes_ && s.address + s.bytes > pool_begin_)
        return refusal{status::invalid_argument, "pa", s.address, pool_begin_};
      sum += s.bytes;
      if (sum > table_.bytes()) return refusal{status::no_space, "bytes", sum, largest_bytes()};
    }
    shape r;
    bool refused = false;
    r.bytes = for_each_run(list, n, [&](uint64_t pa, uint64_t bytes, uint64_t offset) {
      const bool exact = !dev.trusted && partial_ != partial_pages::expose;
      if (exact) r.bounced += partial_pages_of(pa, bytes);
      refused = refused || (partial_ == partial_pages::refuse && r.bounced != 0);
      const uint64_t whole = exact ? bytes >> log2_4k << log2_4k : round_up(bytes, log2_4k);
      if (offset == 0 && dev.pages.huge != huge_pages::never && is_aligned(pa, log2_2m) && whole >> log2_2m != 0)
        r.align = huge_order;
    });
    if (refused) return refusal{status::misaligned, "bytes", list[0].bytes, uint64_t{1} << log2_4k};
    r.rounded = n == 1 ? mapped_bytes(dev.pages, dev.trusted, list[0].address, list[0].bytes) : r.bytes;
    if (r.rounded != r.bytes) r.align = huge_order;
    if (r.align == 0 && dev.pages.medium && r.bytes >> log2_64k != 0) r.align = log2_64k - log2_4k;
    return r;
  }

  /// Could such a block ever be had?
  [[nodiscard]] refusal possible(const device& dev, const shape& s) const noexcept {
    const uint64_t pages = s.bytes >> log2_4k;
    const uint32_t limit = limit_of(dev);
    if (limit == 0) return {status::out_of_range, "address_bits", dev.address_bits, table_.base()};
    const uint64_t most = limit < iova_.space().largest() ? limit : iova_.space().largest();
    if (iova_.pages_taken(pages) > most) return {status::no_space, "bytes", s.bytes, most << log2_4k};
    return {};
  }

  /// A block for the shape that begins at a multiple of 2 MiB; none where it gains nothing from that, where there is no
  /// such place or holes enough.
  block allocate_huge(uint32_t cpu, const device& dev, const shape& s) noexcept {
    if (s.align != huge_order) return {};
    wish w = wish_for(dev, s.rounded);
    w.align = huge_order;
    const uint32_t page = iova_.allocate_now(cpu, w);
    return page == no_page ? block{} : block{iova_of(page), s.rounded};
  }
  /// A block for the shape with small pages.
  block allocate(uint32_t cpu, const device& dev, const shape& s) noexcept {
    wish w = wish_for(dev, s.bytes);
    w.align = s.align == huge_order ? 0 : s.align;
    const uint32_t page = iova_.allocate(cpu, w);
    return page == no_page ? block{} : block{iova_of(page), s.bytes};
  }

  /// Can the device address all of it?
  [[nodiscard]] bool reaches(const device& dev, const block& b) const noexcept {
    return dev.address_bits >= most_address_bits || b.iova + b.bytes <= uint64_t{1} << dev.address_bits;
  }

  /// Enters the list's pages. `chain`: as many bounce pages as measure() asked for.
  void place(const block& b, const device& dev, const segment* list, uint32_t n, uint32_t chain,
             direction way) noexcept {
    const bool bounces = chain != page_pool<P>::none;
    for_each_run(list, n, [&](uint64_t pa, uint64_t bytes, uint64_t offset) {
      const uint64_t rest = pa & ((uint64_t{1} << log2_4k) - 1);
      uint64_t iova = b.iova + (offset - rest);
      uint64_t at_pa = pa - rest;
      const uint64_t end = pa + bytes;
      uint64_t stop = n == 1 && b.bytes > round_up(end, log2_4k) - at_pa ? at_pa + b.bytes : round_up(end, log2_4k);
      if (bounces && !is_aligned(end, log2_4k)) stop -= uint64_t{1} << log2_4k;  // the last page is bounced
      if (bounces && (rest != 0 || at_pa == stop)) {
        put_bounced(iova, pa, end, b, chain, way);
        iova += uint64_t{1} << log2_4k;
        at_pa += uint64_t{1} << log2_4k;
      }
      while (at_pa < stop) {
        const unsigned log2 = page_log2_at(dev.pages, iova, at_pa, stop - at_pa);
        table_.set(iova, at_pa, log2, ends_of(b, iova, log2));
        iova += uint64_t{1} << log2;
        at_pa += uint64_t{1} << log2;
      }
      if (bounces && !is_aligned(end, log2_4k) && at_pa < end) put_bounced(iova, at_pa, end, b, chain, way);
    });
  }

  /// The mapped block that [iova, iova + bytes) is; no bytes where it is not exactly one.
  [[nodiscard]] block mapped(const device& dev, uint64_t iova, uint64_t bytes) const noexcept {
    if (bytes == 0 || !table_.inside(iova) || bytes > table_.bytes() - (iova - table_.base())) return {};
    const uint64_t start = iova >> log2_4k << log2_4k;
    const uint64_t wanted = round_up(iova - start + bytes, log2_4k);
    const uint64_t there = table_.buffer_bytes(start);
    const bool rounded = dev.trusted && dev.pages.huge == huge_pages::always && is_aligned(start, log2_2m) &&
                         there == round_up(wanted, log2_2m);
    return there == wanted || rounded ? block{start, there} : block{};
  }

  /// Clears a mapped block: use(iova, page_log2) for each page. Returns its chain of bounce pages; false in `mine` when
  /// another caller got it.
  template <class Use>
  uint32_t clear(const block& b, bool& mine, const Use& use) noexcept {
    uint32_t chain = page_pool<P>::none;
    mine = true;
    for (uint64_t done = 0; done < b.bytes;) {
      const auto p = table_.clear(b.iova + done);
      if (!p.known) {
        mine = false;
        return chain;
      }
      use(b.iova + done, p.log2);
      const uint32_t bounced = pool_bytes_ == 0 ? page_pool<P>::none : pool_.bounce_at(p.pa);
      if (bounced != page_pool<P>::none) {
        pool_.link(bounced, chain);
        chain = bounced;
      }
      done += uint64_t{1} << p.log2;
    }
    return chain;
  }

  /// A block that the device cannot reach any more: what it wrote goes back to the buffer, and all is free again.
  void finish(uint32_t cpu, const block& b, uint32_t chain) noexcept {
    for (uint32_t i = chain; i != page_pool<P>::none; i = pool_.next(i)) pool_.copy_back(i);
    pool_.give_back(chain);
    give_back(cpu, b);
  }
  void give_back(uint32_t cpu, const block& b) noexcept {
    iova_.free(cpu, static_cast<uint32_t>((b.iova - table_.base()) >> log2_4k), b.bytes >> log2_4k);
  }

  page_table<P>& table() noexcept { return table_; }
  const page_table<P>& table() const noexcept { return table_; }
  iova_cache<P>& iova() noexcept { return iova_; }
  const iova_cache<P>& iova() const noexcept { return iova_; }
  page_pool<P>& pool() noexcept { return pool_; }

 private:
  [[nodiscard]] uint64_t iova_of(uint32_t page) const noexcept { return table_.base() + (uint64_t{page} << log2_4k); }
  [[nodiscard]] uint64_t largest_bytes() const noexcept { return uint64_t{iova_.space().largest()} << log2_4k; }
  typename page_table<P>::ends ends_of(const block& b, uint64_t iova, unsigned log2) const noexcept {
    return {iova == b.iova, iova + (uint64_t{1} << log2) == b.iova + b.bytes};
  }

  [[nodiscard]] wish wish_for(const device& dev, uint64_t bytes) const noexcept {
    const uint32_t limit = limit_of(dev);
    return {.pages = bytes >> log2_4k, .from = preferred_from(limit), .limit = limit};
  }
  /// First page that the device cannot address; 0: it reaches nothing of the space.
  [[nodiscard]] uint32_t limit_of(const device& dev) const noexcept {
    if (dev.address_bits >= most_address_bits) return no_page;
    const uint64_t end = uint64_t{1} << dev.address_bits;
    if (end <= table_.base()) return 0;
    const uint64_t pages = (end - table_.base()) >> log2_4k;
    return pages >= table_.pages() ? no_page : static_cast<uint32_t>(pages);
  }
  /// Addresses below 4 GiB are left for devices that need them, as long as there are others.
  [[nodiscard]] uint32_t preferred_from(uint32_t limit) const noexcept {
    constexpr uint64_t low_end = uint64_t{1} << 32;
    if (limit != no_page || table_.base() >= low_end || table_.bytes() <= low_end - table_.base()) return 0;
    return static_cast<uint32_t>((low_end - table_.base()) >> log2_4k);
  }

  /// The page at `iova` with the buffer's bytes from `pa` up to its end, or `end`.
  void put_bounced(uint64_t iova, uint64_t pa, uint64_t end, const block& b, uint32_t& chain, direction way) noexcept {
    const uint32_t i = chain;
    chain = pool_.next(i);
    const uint64_t page_end = (pa >> log2_4k << log2_4k) + (uint64_t{1} << log2_4k);
    pool_.fill(i, pa, static_cast<uint32_t>((end < page_end ? end : page_end) - pa), way);
    table_.set(iova, pool_.pa(i), log2_4k, ends_of(b, iova, log2_4k));
  }

  page_table<P> table_;
  iova_cache<P> iova_;
  page_pool<P> pool_;
  uint64_t output_ = 0;
  uint64_t pool_begin_ = 0;
  uint64_t pool_bytes_ = 0;
  partial_pages partial_ = partial_pages::bounce;
};

}  // namespace cmdq::dma

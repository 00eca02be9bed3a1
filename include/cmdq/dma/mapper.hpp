// SPDX-License-Identifier: BSL-1.0
// What a driver calls: map a buffer, unmap it. One mapper is one address space (one ASID). Strict: unmap returns when
// no translation of the buffer is left. Gather: several unmaps share one invalidation. Lazy: unmapped ranges wait in a
// flush queue; a device may still reach the old memory until the flush, but no IOVA is given out again before it.
//
// From where a call may come, what it masks and what it promises: README.md beside this file.
#pragma once

#include <cmdq/dma/lifecycle.hpp>
#include <cmdq/dma/parts.hpp>

namespace cmdq::dma {

template <platform_type P, invalidator I>
class mapper : public lifecycle<P, I> {
 public:
  /// Maps [pa, pa + bytes) for the device; the result is its IOVA, with the offset inside the page that pa has. A
  /// trusted device also reaches the rest of the first and last 4 KiB page, with huge_pages::always what page_policy
  /// says; an untrusted one not a byte more (mapper_options::partial). `cpu`: the caller's number, below
  /// iova_options::cpus. Errors: invalid_argument (0 bytes, memory of the pool), out_of_range (pa beyond the output
  /// size, a device that can address nothing here), no_space (no such range free, even after what was deferred and
  /// cached was taken back, or no bounce page), misaligned (partial pages are refused), would_block (closed, see
  /// drain()). Cost: one uncontended lock, one store per page.
  result<uint64_t> map(uint32_t cpu, const device& dev, uint64_t pa, uint64_t bytes,
                       direction way = direction::both) noexcept {
    const segment one{pa, bytes};
    const result<typename blocks<P>::block> b = map_block(cpu, dev, &one, 1, way);
    if (!b) return b.why();
    return b->iova + (pa & page_low);
  }

  /// Unmaps what map() returned, with the same device and size. Strict: returns when the invalidation is done, and what
  /// an untrusted device wrote to bounce pages is in the buffer. Lazy: returns at once. Errors: invalid_argument (not
  /// mapped like that; nothing is freed), would_block with nothing done (closed), or those of the invalidation: then
  /// the range is never given out again (see lost_ranges), because the device may still hold its translations.
  status unmap(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
    const passage inside(gate_, cpu);
    if (!inside) return status::would_block;
    const auto b = blocks_.mapped(dev, iova, bytes);
    if (b.bytes == 0) return status::invalid_argument;
    gather one;
    if (const status s = collect(b, one); s != status::ok) return s;
    // A buffer that was mapped for an untrusted device has bounce pages, whatever `dev` says now.
    if (this->mode_for(dev) == mode::strict || one.blocks()[0].bounced != gather::no_slot) return invalidate(cpu, one);
    one.clear();
    return defer(cpu, b);
  }

  /// Clears the translations and adds the buffer to `batch`; it is unmapped when sync() returns, and not before. A full
  /// batch is synced first. Always strict. Errors: of that sync and of this buffer, apart; as unmap(), and
  /// invalid_argument for a batch with another mapper's buffers.
  gather_outcome unmap(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes, gather& batch) noexcept {
    const passage inside(gate_, cpu);
    if (!inside) return {status::ok, status::would_block};
    if (!batch.belongs_to(this)) return {status::ok, status::invalid_argument};
    const auto b = blocks_.mapped(dev, iova, bytes);
    if (b.bytes == 0) return {status::ok, status::invalid_argument};
    gather_outcome o;
    if (!batch.has_room()) o.earlier = sync_inside(cpu, batch);
    if (batch.empty()) batch_opened(cpu, batch);
    o.code = collect(b, batch);
    if (batch.empty()) this->synced();
    return o;
  }

  /// One invalidation and one CMD_SYNC for all of `batch`, which is empty afterwards. Nothing to do: no command.
  /// Errors: would_block (closed; the batch is as it was), those of the invalidation.
  status sync(uint32_t cpu, gather& batch) noexcept {
    if (batch.empty()) return status::ok;
    if (!batch.belongs_to(this)) return status::invalid_argument;
    const passage inside(gate_, cpu);
    return inside ? sync_inside(cpu, batch) : status::would_block;
  }

  /// Takes part of a mapped buffer away from the device at once, whole pages; the buffer's addresses stay its own until
  /// unmap(), which is called for all of it as ever. Always strict. Errors: misaligned (not whole pages, or it cuts a
  /// larger page: nothing is done), invalid_argument (not inside one buffer, or gone already), would_block (closed),
  /// those of the invalidation.
  status unmap_part(uint32_t cpu, uint64_t iova, uint64_t bytes) noexcept {
    if (bytes == 0) return status::invalid_argument;
    if (!is_aligned(iova | bytes, log2_4k)) return status::misaligned;
    const passage inside(gate_, cpu);
    if (!inside) return status::would_block;
    if (const status s = check_part(blocks_.table(), iova, bytes); s != status::ok) return s;
    gather part;
    each_page(blocks_.table(), iova, bytes, [&](uint64_t at_iova, const auto& p) {
      blocks_.table().withdraw(at_iova);
      part.add_page(at_iova, p.log2);
    });
    const status s = invalidations_->invalidate(cpu, part.runs(), part.run_count());
    part.clear();
    if (s != status::ok) return s;
    each_page(blocks_.table(), iova, bytes, [&](uint64_t, const auto& p) {
      const uint32_t bounced = blocks_.pool().bounce_at(p.pa);
      if (bounced != gather::no_slot) blocks_.pool().settle(bounced);
    });
    return s;
  }

  /// Maps a scatter list as one block: `out` gets at most `n` segments of IOVAs, in order, neighbours joined where
  /// their addresses meet and device::most_per_segment allows it; the result is how many. `out` may be `list`. All or
  /// nothing. Errors and cost: as map().
  result<uint32_t> map_sg(uint32_t cpu, const device& dev, const segment* list, uint32_t n, segment* out,
                          direction way = direction::both) noexcept {
    if (out == nullptr) return refusal{status::invalid_argument, "out", 0, 0};
    const result<typename blocks<P>::block> b = map_block(cpu, dev, list, n, way);
    if (!b) return b.why();
    return joined_segments(dev, list, n, b->iova, out);
  }

  /// Unmaps what map_sg() returned: its segments and their number. One invalidation. Errors: as unmap().
  status unmap_sg(uint32_t cpu, const device& dev, const segment* mapped, uint32_t n) noexcept {
    if (mapped == nullptr || n == 0) return status::invalid_argument;
    const segment& last = mapped[n - 1];
    if (last.address < mapped[0].address) return status::invalid_argument;
    return unmap(cpu, dev, mapped[0].address, last.address - mapped[0].address + last.bytes);
  }

  /// What the CPU wrote to a mapped buffer is the device's to read afterwards; may be part of it. Copies where pages
  /// are bounced and does nothing else: the layer is for devices that snoop, and what orders the CPU's stores before
  /// the device's reads is the barrier of the register write that tells the device to go (write_prod() has it). Errors:
  /// invalid_argument (not mapped).
  status sync_for_device(uint32_t, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
    if (dev.trusted) return status::ok;
    return each_bounced(blocks_.table(), blocks_.pool(), iova, bytes,
                        [&](uint32_t i, uint32_t low, uint32_t high) { blocks_.pool().copy_in(i, low, high); });
  }
  /// What the device wrote is the CPU's to read afterwards. As sync_for_device(); what orders the device's writes
  /// before the CPU's reads is the barrier behind the read that showed that the device is done (read_cons() has it).
  status sync_for_cpu(uint32_t, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
    if (dev.trusted) return status::ok;
    return each_bounced(blocks_.table(), blocks_.pool(), iova, bytes,
                        [&](uint32_t i, uint32_t low, uint32_t high) { blocks_.pool().copy_back(i, low, high); });
  }

  /// Zeroed memory of the pool, mapped: whole pages that no other buffer shares. Errors: as map(); no_space also where
  /// the pool is used up.
  result<coherent_memory> alloc(uint32_t cpu, const device& dev, uint64_t bytes) noexcept {
    if (bytes == 0 || bytes > blocks_.table().bytes()) return refusal{status::no_space, "bytes", bytes, 0};
    if (gate_.closed(cpu)) return base::closed_refusal();
    typename blocks<P>::shape s;
    s.bytes = s.rounded = round_up(bytes, log2_4k);
    if (const refusal why = blocks_.possible(dev, s); why.code != status::ok) return why;
    page_pool<P>& pool = blocks_.pool();
    const uint32_t first = pool.take(s.bytes >> log2_4k);
    if (first == pool.none) return refusal{status::no_space, "pool", bytes, 0};
    const auto b = allocate(cpu, dev, s);
    if (b.bytes == 0) {
      pool.give(first, s.bytes >> log2_4k);
      return refusal{status::no_space, "bytes", bytes, blocks_.table().bytes()};
    }
    const segment whole{pool.pa(first), s.bytes};
    blocks_.place(b, dev, &whole, 1, pool.none, direction::both);
    return coherent_memory{pool.memory(first), b.iova, s.bytes};
  }

  /// Gives it back, when the device can reach it no more: always strict. Errors: as unmap(); with those of the
  /// invalidation the memory is not used again either.
  status free(uint32_t cpu, const device& dev, const coherent_memory& m) noexcept {
    page_pool<P>& pool = blocks_.pool();
    const passage inside(gate_, cpu);
    if (!inside) return status::would_block;
    const auto b = blocks_.mapped(dev, m.iova, m.bytes);
    const uint32_t first = b.bytes == 0 ? pool.none : pool.page_at(blocks_.table().look(b.iova).pa);
    if (first == pool.none || pool.memory(first) != m.memory || pool.bounce_at(pool.pa(first)) != pool.none)
      return status::invalid_argument;
    gather one;
    status s = collect(b, one);
    if (s == status::ok) s = invalidate(cpu, one);
    if (s == status::ok) pool.give(first, b.bytes >> log2_4k);
    return s;
  }

 private:
  using base = lifecycle<P, I>;
  using base::allocate, base::collect, base::defer, base::invalidate, base::lose, base::blocks_, base::gate_,
      base::invalidations_;
  using typename base::block, typename base::shape;
  static constexpr uint64_t page_low = (uint64_t{1} << log2_4k) - 1;

  result<block> map_block(uint32_t cpu, const device& dev, const segment* list, uint32_t n, direction way) noexcept {
    if (gate_.closed(cpu)) return base::closed_refusal();
    const result<shape> s = blocks_.measure(dev, list, n);
    if (!s) return s.why();
    if (const refusal why = blocks_.possible(dev, *s); why.code != status::ok) return why;
    const uint32_t chain = blocks_.pool().take_chain(s->bounced);
    if (chain == gather::no_slot && s->bounced != 0) return refusal{status::no_space, "bounce pages", s->bounced, 0};
    const block b = allocate(cpu, dev, *s);
    if (b.bytes == 0) {
      blocks_.pool().give_back(chain);
      return refusal{status::no_space, "bytes", s->bytes, blocks_.table().bytes()};
    }
    blocks_.place(b, dev, list, n, chain, way);
    return b;
  }

  status sync_inside(uint32_t cpu, gather& batch) noexcept {
    const status s = invalidate(cpu, batch);
    this->synced();
    return s;
  }
  void batch_opened(uint32_t cpu, gather& batch) noexcept {
    this->opened();
    batch.bind(this, cpu, [](void* self, uint32_t on_cpu, gather& rest) noexcept {
      mapper& m = *static_cast<mapper*>(self);
      if (m.sync(on_cpu, rest) != status::would_block) return;
      m.lose(rest.block_count());  // closed: resume() or close() invalidates, but the ranges are gone
      m.synced();
    });
  }
};

}  // namespace cmdq::dma

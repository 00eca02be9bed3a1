// SPDX-License-Identifier: BSL-1.0
// What a driver calls: map a buffer, unmap it. One mapper is one address space (one ASID). Strict: unmap returns when
// no translation of the buffer is left. Gather: several unmaps share one invalidation. Lazy: unmapped ranges wait in a
// flush queue; a device may still reach the old memory until the flush, but no IOVA is given out again before it.
//
// From where a call may come, what it masks and what it promises: README.md beside this file.
#pragma once

#include <cmdq/dma/blocks.hpp>
#include <cmdq/dma/flush_queue.hpp>
#include <cmdq/dma/gate.hpp>
#include <cmdq/dma/invalidator.hpp>
#include <cmdq/dma/parts.hpp>

namespace cmdq::dma {

template <platform_type P, invalidator I>
class mapper {
 public:
  /// Strict at first, and open. `invalidations` must outlive the mapper. Errors: misaligned, out_of_range, no_space,
  /// invalid_argument; why() names the option, its value and the limit.
  status init(arena& memory, const mapper_options& options, I& invalidations) noexcept {
    invalidations_ = &invalidations;
    why_ = blocks_.init(memory, options);
    if (why_.code == status::ok) why_ = {gate_.init(memory, options.iova.cpus), "cpus", options.iova.cpus, 0};
    return why_.code;
  }
  /// Why the last init() or reserve() refused.
  [[nodiscard]] const refusal& why() const noexcept { return why_; }

  /// Never gives out an address of [iova, iova + bytes), as far as it is in the space (an MSI doorbell that devices
  /// reach untranslated). Before the first map. Errors: invalid_argument (0 bytes, or some of it is in use).
  status reserve(uint64_t iova, uint64_t bytes) noexcept {
    why_ = blocks_.reserve(iova, bytes);
    return why_.code;
  }

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
    if (mode_for(dev) == mode::strict || one.blocks()[0].bounced != gather::no_slot) return invalidate(cpu, one);
    one.clear();
    const status s = deferred_.add(cpu, {b.iova, b.bytes}, flush_call(), release_call());
    if (s != status::ok) lose(1);
    return s;
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
    if (batch.empty()) gathers_.fetch_add(~uint64_t{0}, at<site::dma_count>);
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
    if (gate_.closed(cpu)) return closed_refusal();
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

  /// Switches strict -> lazy while others map and unmap; call it from one thread. A flush queue that cannot be set up
  /// leaves the mapper strict and returns why. Lazy -> strict is refused (invalid_argument): ranges may be deferred.
  status set_mode(mode wanted, arena& memory, const flush_options& options = {}) noexcept {
    if (wanted == mode::strict) return lazy() ? status::invalid_argument : status::ok;
    if (lazy()) return status::ok;
    if (const status s = deferred_.init(memory, options); s != status::ok) return s;
    lazy_.store(1, at<site::lazy_publish>);  // from here on others use the queue
    return status::ok;
  }

  /// The mode that an unmap for this device has now.
  [[nodiscard]] mode mode_for(const device& dev) const noexcept {
    return dev.trusted && lazy() ? mode::lazy : mode::strict;
  }

  /// The flush timer's callback: see flush_queue::on_timer. Does nothing while closed.
  bool on_timer(uint32_t cpu, uint64_t now_ns) noexcept {
    if (!lazy()) return false;
    const passage inside(gate_, cpu);
    return inside && deferred_.on_timer(cpu, now_ns, flush_call(), release_call());
  }

  /// Flushes what is deferred now. Errors: would_block (closed), those of the invalidation.
  status flush(uint32_t cpu) noexcept {
    if (!lazy()) return status::ok;
    const passage inside(gate_, cpu);
    return inside ? deferred_.flush_all(cpu, flush_call(), release_call()) : status::would_block;
  }

  /// Before the device and its queue lose power: from here on every call that maps, unmaps or flushes is refused with
  /// would_block and nothing done; waits, at most `ns`, for calls that are inside, and flushes what is deferred. When
  /// it returns ok nobody uses the queue through this mapper until resume(). Buffers stay mapped. Errors: timeout
  /// (somebody is inside; closed all the same, call it again), those of the invalidation. From a thread only.
  status drain(uint32_t cpu, uint64_t ns) noexcept {
    gate_.close();
    if (!gate_.empty(ns)) return status::timeout;
    return lazy() ? deferred_.flush_all(cpu, flush_call(), release_call()) : status::ok;
  }

  /// The device is back and its queue works: drops whatever it may have cached, and lets calls in again. Errors: those
  /// of the invalidation; closed still. From a thread only.
  status resume(uint32_t cpu) noexcept {
    const status s = drop_all(cpu);
    if (s == status::ok) gate_.open();
    return s;
  }

  /// Before the memory goes, or the ASID to another: refused with their number while buffers are mapped or batches
  /// unsynced (invalid_argument; nothing is done). Else drain(), then the whole address space is invalidated: whoever
  /// has its ASID or IOVAs next meets nothing of it. Closed afterwards. Errors besides: those of drain(). No map may
  /// run. From a thread only. Cost: a load per page of the space.
  refusal close(uint32_t cpu, uint64_t ns = no_deadline) noexcept {
    if (const uint64_t n = blocks_.table().buffers(); n != 0) return {status::invalid_argument, "mapped buffers", n, 0};
    const uint64_t open = gathers_.load(at<site::dma_count>);
    if (open != 0) return {status::invalid_argument, "unsynced gathers", open, 0};
    status s = drain(cpu, ns);
    if (s == status::ok) s = drop_all(cpu);
    if (s == status::ok) blocks_.iova().drain();
    return {s, "drain", ns, 0};
  }

  /// Bytes of the largest buffer whose IOVA comes from a CPU's own cache (iova_options::size_classes).
  [[nodiscard]] uint64_t largest_cached() const noexcept { return blocks_.iova().largest_cached() << log2_4k; }
  const page_table<P>& table() const noexcept { return blocks_.table(); }
  iova_cache<P>& iova() noexcept { return blocks_.iova(); }
  page_pool<P>& pool() noexcept { return blocks_.pool(); }
  /// Meaningful in lazy mode only.
  flush_queue<P>& deferred_ranges() noexcept { return deferred_; }
  /// Ranges given up because their invalidation failed.
  [[nodiscard]] uint64_t lost_ranges() const noexcept { return lost_.load(at<site::dma_count>); }

 private:
  using block = typename blocks<P>::block;
  using shape = typename blocks<P>::shape;
  static constexpr uint64_t page_low = (uint64_t{1} << log2_4k) - 1;

  [[nodiscard]] bool lazy() const noexcept { return lazy_.load(at<site::lazy_look>) != 0; }
  static refusal closed_refusal() noexcept { return {status::would_block, "gate", 0, 1}; }

  result<block> map_block(uint32_t cpu, const device& dev, const segment* list, uint32_t n, direction way) noexcept {
    if (gate_.closed(cpu)) return closed_refusal();
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

  /// What a flush takes back others may take first: with little left, several are needed.
  block allocate(uint32_t cpu, const device& dev, const shape& s) noexcept {
    constexpr unsigned most_flushes = 8;
    block b = blocks_.allocate(cpu, dev, s);
    if (b.bytes != 0 || !lazy()) return b;
    for (unsigned i = 0; b.bytes == 0 && i < most_flushes && deferred_.pending() != 0; ++i) {
      if (flush(cpu) != status::ok) break;
      b = blocks_.allocate(cpu, dev, s);
    }
    return b;
  }

  /// Clears the block's pages and adds them and it to `into`. Of two callers that unmap the same buffer, the first page
  /// decides.
  status collect(const block& b, gather& into) noexcept {
    bool mine = false;
    const uint32_t chain = blocks_.clear(b, mine, [&](uint64_t iova, unsigned log2) { into.add_page(iova, log2); });
    if (!mine) return status::invalid_argument;
    into.add_block(b.iova, b.bytes, chain);
    return status::ok;
  }

  status invalidate(uint32_t cpu, gather& what) noexcept {
    const status s = invalidations_->invalidate(cpu, what.runs(), what.run_count());
    for (uint32_t i = 0; i < what.block_count(); ++i) {
      const gather::block& b = what.blocks()[i];
      if (s == status::ok) blocks_.finish(cpu, {b.iova, b.bytes}, b.bounced);
    }
    if (s != status::ok) lose(what.block_count());
    what.clear();
    return s;
  }
  status sync_inside(uint32_t cpu, gather& batch) noexcept {
    const status s = invalidate(cpu, batch);
    gathers_.fetch_add(~uint64_t{0}, at<site::dma_count>);
    return s;
  }
  void batch_opened(uint32_t cpu, gather& batch) noexcept {
    gathers_.fetch_add(1, at<site::dma_count>);
    batch.bind(this, cpu, [](void* self, uint32_t on_cpu, gather& rest) noexcept {
      mapper& m = *static_cast<mapper*>(self);
      if (m.sync(on_cpu, rest) != status::would_block) return;
      m.lose(rest.block_count());  // closed: resume() or close() invalidates, but the ranges are gone
      m.gathers_.fetch_add(~uint64_t{0}, at<site::dma_count>);
    });
  }

  /// With nobody inside: everything that the device may have cached of the space is dropped.
  status drop_all(uint32_t cpu) noexcept {
    return lazy() ? deferred_.flush_all(cpu, flush_call(), release_call()) : invalidations_->invalidate_all(cpu);
  }
  void lose(uint32_t count) noexcept { lost_.fetch_add(count, at<site::dma_count>); }

  auto flush_call() noexcept {
    return [this](uint32_t cpu) { return invalidations_->invalidate_all(cpu); };
  }
  auto release_call() noexcept {
    return [this](uint32_t cpu, const deferred& d) { blocks_.give_back(cpu, {d.iova, d.bytes}); };
  }

  I* invalidations_ = nullptr;
  refusal why_;
  blocks<P> blocks_;
  gate<P> gate_;
  flush_queue<P> deferred_;
  typename P::template atomic<uint32_t> lazy_;
  typename P::template atomic<uint64_t> lost_;
  typename P::template atomic<uint64_t> gathers_;  ///< batches with something in them
};

}  // namespace cmdq::dma

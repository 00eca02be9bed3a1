// SPDX-License-Identifier: BSL-1.0
// What a mapper is besides its mappings: its parts and their set-up, strict and lazy mode, flushes, and the ways to
// stop it (drain, resume, close). mapper.hpp is the class to use.
#pragma once

#include <cmdq/dma/blocks.hpp>
#include <cmdq/dma/flush_queue.hpp>
#include <cmdq/dma/gate.hpp>
#include <cmdq/dma/invalidator.hpp>

namespace cmdq::dma {

template <platform_type P, invalidator I>
class lifecycle {
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

 protected:
  using block = typename blocks<P>::block;
  using shape = typename blocks<P>::shape;

  [[nodiscard]] bool lazy() const noexcept { return lazy_.load(at<site::lazy_look>) != 0; }
  static refusal closed_refusal() noexcept { return {status::would_block, "gate", 0, 1}; }

  /// A block for the shape. What a flush takes back others may take first, but for a block of the same size.
  block allocate(uint32_t cpu, const device& dev, const shape& s) noexcept {
    constexpr unsigned most_flushes = 8;
    block b = blocks_.allocate_huge(cpu, dev, s);
    if (b.bytes == 0 && s.align == huge_order && flush_gives_holes() && flush(cpu) == status::ok)
      b = blocks_.allocate_huge(cpu, dev, s);
    if (b.bytes == 0) b = blocks_.allocate(cpu, dev, s);
    bool nothing_waits = false;
    for (unsigned i = 0; b.bytes == 0 && lazy() && i < most_flushes; ++i) {
      const bool before = nothing_waits;
      nothing_waits = deferred_.pending() == 0;
      if (before && nothing_waits) break;  // once may mean that another has just flushed
      if (!nothing_waits && flush_for(cpu, dev, s, b) != status::ok) break;
      if (b.bytes == 0) b = blocks_.allocate_huge(cpu, dev, s);
      if (b.bytes == 0) b = blocks_.allocate(cpu, dev, s);
    }
    return b;
  }

  /// A flush that keeps the first block of the wanted size for the caller.
  status flush_for(uint32_t cpu, const device& dev, const shape& s, block& kept) noexcept {
    const passage inside(gate_, cpu);
    if (!inside) return status::would_block;
    return deferred_.flush_all(cpu, flush_call(), [&](uint32_t on_cpu, const deferred& d) {
      if (kept.bytes == 0 && d.bytes == s.bytes && blocks_.reaches(dev, {d.iova, d.bytes})) {
        kept = {d.iova, d.bytes};
        forget_hole(kept);
      } else {
        release_call()(on_cpu, d);
      }
    });
  }

  /// Unmaps a block whose pages are cleared once a flush has ended; lost when that fails.
  status defer(uint32_t cpu, const block& b) noexcept {
    const uint64_t hole = hole_of(b);
    if (hole != 0) deferred_holes_.fetch_add(hole, at<site::dma_count>);
    const status s = deferred_.add(cpu, {b.iova, b.bytes}, flush_call(), release_call());
    if (s == status::ok) return s;
    forget_hole(b);
    lose(1);
    return s;
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
  /// With nobody inside: everything that the device may have cached of the space is dropped.
  status drop_all(uint32_t cpu) noexcept {
    return lazy() ? deferred_.flush_all(cpu, flush_call(), release_call()) : invalidations_->invalidate_all(cpu);
  }
  void lose(uint32_t count) noexcept { lost_.fetch_add(count, at<site::dma_count>); }

  [[nodiscard]] uint64_t hole_of(const block& b) const noexcept {
    return iova_space<P>::hole_of(b.iova >> log2_4k, blocks_.iova().pages_taken(b.bytes >> log2_4k));
  }
  void forget_hole(const block& b) noexcept {
    const uint64_t hole = hole_of(b);
    if (hole != 0) deferred_holes_.fetch_add(0 - hole, at<site::dma_count>);
  }
  /// Would a flush give back enough of the holes behind blocks with 2 MiB pages (iova_options::hole_percent) to be
  /// worth its CMD_SYNC? A map without them costs a page-table entry per 4 KiB. Half of what is allowed, 16 blocks at
  /// least: holes of buffers that are still mapped never cause a flush.
  [[nodiscard]] bool flush_gives_holes() noexcept {
    constexpr uint64_t fewest = uint64_t{16} << huge_order;
    const uint64_t half = blocks_.iova().space().most_holes() / 2;
    return lazy() && deferred_holes_.load(at<site::dma_count>) >= (half < fewest ? fewest : half);
  }

  auto flush_call() noexcept {
    return [this](uint32_t cpu) { return invalidations_->invalidate_all(cpu); };
  }
  auto release_call() noexcept {
    return [this](uint32_t cpu, const deferred& d) {
      forget_hole({d.iova, d.bytes});
      blocks_.give_back(cpu, {d.iova, d.bytes});
    };
  }

  void opened() noexcept { gathers_.fetch_add(1, at<site::dma_count>); }
  void synced() noexcept { gathers_.fetch_add(~uint64_t{0}, at<site::dma_count>); }

  I* invalidations_ = nullptr;
  blocks<P> blocks_;
  gate<P> gate_;

 private:
  refusal why_;
  flush_queue<P> deferred_;
  typename P::template atomic<uint32_t> lazy_;
  typename P::template atomic<uint64_t> lost_;
  typename P::template atomic<uint64_t> gathers_;         ///< batches with something in them
  typename P::template atomic<uint64_t> deferred_holes_;  ///< pages behind blocks that wait for a flush
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// What a driver calls: map a buffer, unmap it. One mapper is one address space (one ASID). Strict: unmap returns when
// no translation of the buffer is left. Gather: several unmaps share one invalidation. Lazy: unmapped ranges wait in a
// flush queue; a device may still reach the old memory until the flush, but no IOVA is given out again before it.
#pragma once

#include <cmdq/dma/flush_queue.hpp>
#include <cmdq/dma/invalidator.hpp>
#include <cmdq/dma/iova_cache.hpp>
#include <cmdq/dma/page_table.hpp>

namespace cmdq::dma {

/// The device a buffer is for. Unmaps for a device that is not trusted are strict whatever the mapper's mode.
struct device {
  bool trusted = true;
  page_policy pages;
};

enum class mode : uint8_t { strict, lazy };

struct mapper_options {
  uint64_t base = uint64_t{1} << 32;  ///< first IOVA; aligned to 2 MiB
  iova_options iova;
};

template <platform_type P, invalidator I>
class mapper {
 public:
  /// Strict at first. `invalidations` must outlive the mapper. Errors: misaligned (base), out_of_range, no_space.
  status init(arena& memory, const mapper_options& options, I& invalidations) noexcept {
    invalidations_ = &invalidations;
    if (const status s = table_.init(memory, options.base, options.iova.log2_pages); s != status::ok) return s;
    return iova_.init(memory, options.iova);
  }

  /// Maps [pa, pa + bytes) for the device; the result is its IOVA, with the offset inside the page that pa has. With
  /// huge_pages::always the device also reaches the memory up to the next 2 MiB boundary. `cpu`: the caller's number,
  /// below iova_options::cpus. Errors: invalid_argument (0 bytes), out_of_range (pa beyond 52 bits), no_space (no such
  /// range free, even after what was deferred and cached was taken back). Cost: one uncontended lock, one store per
  /// page.
  result<uint64_t> map(uint32_t cpu, const device& dev, uint64_t pa, uint64_t bytes) noexcept {
    if (bytes == 0) return refusal{status::invalid_argument, "bytes", bytes, 1};
    if (pa >= pa_limit || bytes > pa_limit - pa) return refusal{status::out_of_range, "pa", pa, pa_limit};
    const extent e = extent_of(dev, pa, bytes);
    const uint32_t page = allocate(cpu, e.bytes >> log2_4k);
    if (page == no_page) return refusal{status::no_space, "bytes", bytes, uint64_t{1} << iova_.space().log2_pages()};
    const uint64_t iova = table_.base() + (uint64_t{page} << log2_4k);
    for (uint64_t done = 0; done < e.bytes;) {
      const unsigned log2 = page_log2_at(dev.pages, iova + done, e.start + done, e.bytes - done);
      const uint64_t next = done + (uint64_t{1} << log2);
      table_.set(iova + done, e.start + done, log2, {done == 0, next == e.bytes});
      done = next;
    }
    return iova + (pa - e.start);
  }

  /// Unmaps what map() returned, with the same device and size. Strict: returns when the invalidation is done. Lazy:
  /// returns at once. Errors: invalid_argument (not mapped like that; nothing is freed), or those of the invalidation:
  /// then the range is never given out again (see lost_ranges), because the device may still hold its translations.
  status unmap(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
    gather one;
    const extent e = extent_of(dev, iova, bytes);
    if (const status s = clear(e, one); s != status::ok) return s;
    if (mode_for(dev) == mode::strict) return sync(cpu, one);
    const status s = deferred_.add(cpu, {e.start, e.bytes}, flush_call(), release_call());
    if (s != status::ok) lose(1);
    return s;
  }

  /// Clears the translations and adds the buffer to `batch`; it is unmapped when sync() returns, and not before. A full
  /// batch is synced first. Always strict. Errors: as unmap().
  status unmap(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes, gather& batch) noexcept {
    status s = status::ok;
    if (!batch.has_room()) s = sync(cpu, batch);
    const status cleared = clear(extent_of(dev, iova, bytes), batch);
    return cleared != status::ok ? cleared : s;
  }

  /// One invalidation and one CMD_SYNC for all of `batch`, which is empty afterwards. Nothing to do: no command.
  status sync(uint32_t cpu, gather& batch) noexcept {
    if (batch.empty()) return status::ok;
    const status s = invalidations_->invalidate(cpu, batch.runs(), batch.run_count());
    for (uint32_t i = 0; i < batch.block_count(); ++i) {
      if (s == status::ok) give_back(cpu, batch.blocks()[i].iova, batch.blocks()[i].bytes);
    }
    if (s != status::ok) lose(batch.block_count());
    batch.clear();
    return s;
  }

  /// Switches strict -> lazy while others map and unmap; call it from one thread. A flush queue that cannot be set up
  /// leaves the mapper strict and returns why. Lazy -> strict is refused (invalid_argument): ranges may be deferred.
  status set_mode(mode wanted, arena& memory, const flush_options& options = {}) noexcept {
    const bool lazy = lazy_.load(at<site::lazy_look>) != 0;
    if (wanted == mode::strict) return lazy ? status::invalid_argument : status::ok;
    if (lazy) return status::ok;
    if (const status s = deferred_.init(memory, options); s != status::ok) return s;
    lazy_.store(1, at<site::lazy_publish>);  // from here on others use the queue
    return status::ok;
  }

  /// The mode that an unmap for this device has now.
  [[nodiscard]] mode mode_for(const device& dev) const noexcept {
    return dev.trusted && lazy_.load(at<site::lazy_look>) != 0 ? mode::lazy : mode::strict;
  }

  /// The flush timer's callback: see flush_queue::on_timer.
  bool on_timer(uint32_t cpu, uint64_t now_ns) noexcept {
    if (lazy_.load(at<site::lazy_look>) == 0) return false;
    return deferred_.on_timer(cpu, now_ns, flush_call(), release_call());
  }

  /// Flushes what is deferred now. Errors: those of the invalidation.
  status flush(uint32_t cpu) noexcept {
    if (lazy_.load(at<site::lazy_look>) == 0) return status::ok;
    return deferred_.flush_all(cpu, flush_call(), release_call());
  }

  /// Before the memory goes: waits for a timer callback that runs, turns later ones away, flushes and gives every
  /// cached IOVA back. No map, unmap or sync may run. Errors: those of the last flush.
  status close(uint32_t cpu) noexcept {
    status s = status::ok;
    if (lazy_.load(at<site::lazy_look>) != 0) {
      deferred_.close();
      s = flush(cpu);
    }
    iova_.drain();
    return s;
  }

  const page_table<P>& table() const noexcept { return table_; }
  iova_cache<P>& iova() noexcept { return iova_; }
  /// Meaningful in lazy mode only.
  flush_queue<P>& deferred_ranges() noexcept { return deferred_; }
  /// Ranges given up because their invalidation failed.
  [[nodiscard]] uint64_t lost_ranges() const noexcept { return lost_.load(at<site::dma_count>); }

 private:
  static constexpr uint64_t pa_limit = uint64_t{1} << 52;

  struct extent {
    uint64_t start;
    uint64_t bytes;
  };
  static extent extent_of(const device& dev, uint64_t address, uint64_t bytes) noexcept {
    const uint64_t offset = address & ((uint64_t{1} << log2_4k) - 1);
    return {address - offset, mapped_bytes(dev.pages, bytes + offset)};
  }

  /// What a flush takes back others may take first: with little left, several are needed.
  uint32_t allocate(uint32_t cpu, uint64_t pages) noexcept {
    constexpr unsigned most_flushes = 8;
    uint32_t page = iova_.allocate(cpu, pages);
    if (page != no_page || lazy_.load(at<site::lazy_look>) == 0) return page;
    for (unsigned i = 0; page == no_page && i < most_flushes && flush(cpu) == status::ok; ++i)
      page = iova_.allocate(cpu, pages);
    return page;
  }

  /// Clears the extent's pages and adds them and their block to `into`. Anything but exactly one mapped buffer is
  /// refused and left alone; of two callers that unmap the same buffer, the first page decides.
  status clear(const extent& e, gather& into) noexcept {
    if (!table_.is_buffer(e.start, e.bytes)) return status::invalid_argument;
    for (uint64_t done = 0; done < e.bytes;) {
      const unsigned log2 = table_.clear(e.start + done);
      if (log2 == 0) return status::invalid_argument;
      into.add_page(e.start + done, log2);
      done += uint64_t{1} << log2;
    }
    into.add_block(e.start, e.bytes);
    return status::ok;
  }

  void give_back(uint32_t cpu, uint64_t iova, uint64_t bytes) noexcept {
    iova_.free(cpu, static_cast<uint32_t>((iova - table_.base()) >> log2_4k), bytes >> log2_4k);
  }
  void lose(uint32_t count) noexcept { lost_.fetch_add(count, at<site::dma_count>); }

  auto flush_call() noexcept {
    return [this](uint32_t cpu) { return invalidations_->invalidate_all(cpu); };
  }
  auto release_call() noexcept {
    return [this](uint32_t cpu, const deferred& d) { give_back(cpu, d.iova, d.bytes); };
  }

  I* invalidations_ = nullptr;
  page_table<P> table_;
  iova_cache<P> iova_;
  flush_queue<P> deferred_;
  typename P::template atomic<uint32_t> lazy_;
  typename P::template atomic<uint64_t> lost_;
};

}  // namespace cmdq::dma

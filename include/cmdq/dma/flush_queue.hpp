// SPDX-License-Identifier: BSL-1.0
// Lazy invalidation. Unmapped ranges wait in a ring until one flush of the whole address space covers many of them.
// Flushes are numbered when they begin. An entry remembers the last number begun after its page-table entries were
// cleared, and is released once a flush with a higher number has finished: only such a flush began after the clear.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/arena.hpp>
#include <cmdq/dma/spin_lock.hpp>

namespace cmdq::dma {

struct flush_options {
  uint32_t cpus = 1;                ///< rings, one per CPU number
  uint32_t entries = 256;           ///< per ring; a full ring is flushed
  uint64_t period_ns = 10'000'000;  ///< from the first entry after a flush to the timer's flush
  bool shared = false;              ///< one ring for all CPUs
};

/// Where a flush is very dear: one ring of 32768 entries, flushed once a second.
inline constexpr flush_options shared_flush_queue{1, 32768, 1'000'000'000, true};

inline constexpr uint32_t max_flush_entries = 1U << 20;

/// An unmapped range that may not be used again yet.
struct deferred {
  uint64_t iova = 0;
  uint64_t bytes = 0;
};

/// In all calls `flush(cpu)` invalidates the whole address space, waits for it and returns its status, and
/// `release(cpu, deferred)` takes a range back. `release` is called with a ring's lock held and must not call back;
/// `flush` is called with no lock held. Everything but init() may be called from an interrupt handler, also one that
/// interrupted another call here on its own CPU.
template <platform_type P>
class flush_queue {
 public:
  /// Errors: out_of_range (entries, period_ns), no_space (arena too small).
  status init(arena& memory, const flush_options& options) noexcept {
    if (options.cpus == 0 || options.entries == 0 || options.entries > max_flush_entries || options.period_ns == 0) {
      return status::out_of_range;
    }
    rings_ = options.shared ? 1 : options.cpus;
    ring_ = memory.take<ring>(rings_);
    entry* const entries = memory.take<entry>(size_t{rings_} * options.entries);
    if (ring_ == nullptr || entries == nullptr) return status::no_space;
    for (uint32_t i = 0; i < rings_; ++i) ring_[i].entries = entries + size_t{i} * options.entries;
    capacity_ = options.entries;
    period_ns_ = options.period_ns;
    return status::ok;
  }

  /// Defers a range whose page-table entries are cleared. When the CPU's ring is full, flushes first; that flush covers
  /// this range, too, so it is released at once. When the flush fails the range is not taken and the flush's status is
  /// returned. Cost: one fence, one uncontended lock, two reads of shared lines; the timer's word is written only when
  /// no timer is armed.
  template <class Flush, class Release>
  status add(uint32_t cpu, const deferred& range, const Flush& flush, const Release& release) noexcept {
    P::fence(at<site::unmap_fence>);  // [F] the clear comes before the look, or the flush's invalidation sees it
    const uint64_t begun = begun_.load(at<site::flush_look>);
    ring& r = ring_[cpu % rings_];
    if (push(cpu, r, {range, begun}, release)) {
      arm();
      return status::ok;
    }
    if (const status s = run(cpu, flush); s != status::ok) return s;
    release_finished(cpu, r, release);
    release(cpu, range);
    return status::ok;
  }

  /// The timer's callback; call it as often as you like. Flushes when the timer is armed and due at `now_ns`
  /// (P::now_ns() time); returns whether it did.
  template <class Flush, class Release>
  bool on_timer(uint32_t cpu, uint64_t now_ns, const Flush& flush, const Release& release) noexcept {
    uint64_t due = deadline_.load(at<site::timer_look>);
    const bool fires = due != 0 && now_ns >= due && deadline_.compare_exchange(due, 0, at<site::timer_fire>);
    if (fires && flush_all(cpu, flush, release) != status::ok) arm();  // tried again a period later
    return fires;
  }

  /// Flushes now and releases everything that was deferred before the call. Errors: those of `flush`; then nothing more
  /// is released than earlier flushes allow.
  template <class Flush, class Release>
  status flush_all(uint32_t cpu, const Flush& flush, const Release& release) noexcept {
    const status s = run(cpu, flush);
    for (uint32_t i = 0; i < rings_; ++i) release_finished(cpu, ring_[i], release);
    return s;
  }

  /// When on_timer() has something to do; 0 while the timer is not armed.
  [[nodiscard]] uint64_t timer_deadline() const noexcept { return deadline_.load(at<site::timer_look>); }
  /// Flushes begun so far.
  [[nodiscard]] uint64_t flushes() const noexcept { return begun_.load(at<site::flush_look>); }
  /// Ranges that wait.
  [[nodiscard]] uint64_t pending() noexcept {
    uint64_t n = 0;
    for (uint32_t i = 0; i < rings_; ++i) {
      const holding guard(ring_[i].lock);
      n += ring_[i].count;
    }
    return n;
  }

 private:
  static constexpr uint32_t releases_per_lock = 16;

  struct entry {
    deferred range;
    uint64_t begun = 0;
  };
  struct alignas(128) ring {
    spin_lock<P> lock;
    uint32_t head = 0;
    uint32_t count = 0;
    entry* entries = nullptr;
  };

  /// One flush. Its number is what counts, not how many have finished: flushes may overtake each other.
  template <class Flush>
  status run(uint32_t cpu, const Flush& flush) noexcept {
    const uint64_t number = begun_.fetch_add(1, at<site::flush_begin>) + 1;
    P::fence(at<site::flush_fence>);  // [F] pairs with unmap_fence
    const status s = flush(cpu);
    if (s != status::ok) return s;
    uint64_t highest = finished_.load(at<site::flush_check>);
    while (highest < number && !finished_.compare_exchange(highest, number, at<site::flush_done>)) {
    }
    return s;
  }

  template <class Release>
  bool push(uint32_t cpu, ring& r, const entry& e, const Release& release) noexcept {
    const holding guard(r.lock);
    release_some(cpu, r, release);
    if (r.count == capacity_) return false;
    uint32_t last = r.head + r.count;
    if (last >= capacity_) last -= capacity_;
    r.entries[last] = e;
    ++r.count;
    return true;
  }

  template <class Release>
  void release_finished(uint32_t cpu, ring& r, const Release& release) noexcept {
    for (bool more = true; more;) {
      const holding guard(r.lock);
      more = release_some(cpu, r, release);
    }
  }

  /// A few at a time, so that interrupts are not masked for long. True when there may be more. Under the ring's lock.
  template <class Release>
  bool release_some(uint32_t cpu, ring& r, const Release& release) noexcept {
    const uint64_t finished = finished_.load(at<site::flush_check>);
    for (uint32_t i = 0; i < releases_per_lock; ++i) {
      if (r.count == 0 || r.entries[r.head].begun >= finished) return false;
      release(cpu, r.entries[r.head].range);
      if (++r.head == capacity_) r.head = 0;
      --r.count;
    }
    return true;
  }

  void arm() noexcept {
    if (deadline_.load(at<site::timer_look>) != 0) return;
    uint64_t none = 0;
    const uint64_t due = P::now_ns() + period_ns_;
    deadline_.compare_exchange(none, due, at<site::timer_arm>);
  }

  ring* ring_ = nullptr;
  uint32_t rings_ = 0;
  uint32_t capacity_ = 0;
  uint64_t period_ns_ = 0;
  alignas(128) typename P::template atomic<uint64_t> begun_;
  alignas(128) typename P::template atomic<uint64_t> finished_;
  alignas(128) typename P::template atomic<uint64_t> deadline_;  ///< 0: timer not armed
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// Baseline queues: one lock around the ring (as drivers did before 2019), and claims published in order (as DPDK's
// multi-producer ring does). Every list ends in a CMD_SYNC that its caller waits for by reading CONS.
#pragma once

#include "../devices.hpp"
#include "locks.hpp"

namespace bench::baselines {

/// Space and completion by a 64-bit count of consumed entries, taken from CONS by whoever reads it.
class counted_ring {
 public:
  counted_ring(device& dev, cmdq::ring_entry<P>* entries) : device_(dev), entries_(entries) {}

 protected:
  /// Reads CONS and returns how many entries have been consumed for certain.
  std::uint64_t look() {
    std::uint64_t seen = consumed_.load(std::memory_order_acquire);
    const std::uint64_t now = seen + shape_.ahead(static_cast<std::uint32_t>(seen), device_.read_cons());
    // Somebody else has moved the count meanwhile: the register may be older than it.
    if (consumed_.load(std::memory_order_acquire) != seen) return seen;
    while (seen < now && !consumed_.compare_exchange_weak(seen, now, std::memory_order_acq_rel)) {
    }
    return consumed_.load(std::memory_order_acquire);
  }
  void await_consumed(std::uint64_t count) {
    for (backoff wait; consumed_.load(std::memory_order_acquire) < count && look() < count;) wait();
  }
  void await_space(std::uint64_t end) {
    if (end > shape_.entries()) await_consumed(end - shape_.entries());
  }
  void write(std::uint64_t start, const cmdq::command* list, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) entry(start + i).put(list[i]);
    entry(start + n).put(cmdq::make_sync(cmdq::sync_signal::event));
  }
  void publish(std::uint64_t end) { device_.write_prod(shape_.to_register(static_cast<std::uint32_t>(end))); }
  [[nodiscard]] std::uint32_t entries() const { return shape_.entries(); }
  cmdq::ring_entry<P>& entry(std::uint64_t p) { return entries_[shape_.slot(static_cast<std::uint32_t>(p))]; }

 private:
  device& device_;
  cmdq::ring_entry<P>* const entries_;
  const cmdq::geometry shape_{ring_log2};
  alignas(64) std::atomic<std::uint64_t> consumed_{0};
};

/// When the lock is given back: once the list is published, or once the device has done it.
enum class held : bool { until_published, until_done };

template <class Lock, held Until>
class locked_ring : counted_ring {
 public:
  using counted_ring::counted_ring;
  void issue(const cmdq::command* list, std::uint32_t n, std::uint64_t&) {
    std::uint64_t end = 0;
    {
      typename Lock::guard hold(lock_);
      end = next_ + n + 1;
      await_space(end);
      write(next_, list, n);
      next_ = end;
      publish(end);
      if constexpr (Until == held::until_done) await_consumed(end);
    }
    await_consumed(end);
  }

 private:
  Lock lock_;
  std::uint64_t next_ = 0;
};

class in_order_ring : counted_ring {
 public:
  using counted_ring::counted_ring;
  /// Adds its failed compare-exchanges to `retries`.
  void issue(const cmdq::command* list, std::uint32_t n, std::uint64_t& retries) {
    std::uint64_t start = head_.load(std::memory_order_relaxed);
    for (;; ++retries) {
      await_space(start + n + 1);
      if (head_.compare_exchange_strong(start, start + n + 1, std::memory_order_relaxed)) break;
    }
    const std::uint64_t end = start + n + 1;
    write(start, list, n);
    for (backoff wait; tail_.load(std::memory_order_acquire) != start;) wait();
    publish(end);
    tail_.store(end, std::memory_order_release);
    await_consumed(end);
  }

 private:
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace bench::baselines

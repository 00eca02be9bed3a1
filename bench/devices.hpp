// SPDX-License-Identifier: BSL-1.0
// The device that everything is measured against. It consumes inside the PROD write or on a thread of its own, and
// checks what it executes: each thread's commands come exactly once and in order.
#pragma once

#include <atomic>
#include <cmdq/cmdq.hpp>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "own_core.hpp"

namespace bench {

using P = cmdq::platform::boost_atomic;

/// Ring of all benchmarks: room for 128 threads with 64 commands and a CMD_SYNC each.
inline constexpr std::uint32_t ring_log2 = 14;
inline constexpr std::uint32_t most_threads = 128;
using ring_storage = cmdq::fixed_memory<P, ring_log2, most_threads, cmdq::max_groups>;

/// A command that says who sent it and which of the sender's commands it is: TLBI_NH_VA with both in its fields.
inline cmdq::command tagged(std::uint32_t thread, std::uint64_t sequence) {
  return {{0x12 | (static_cast<std::uint64_t>(thread) << 48), sequence << 12}};
}

/// What a device has executed. Written by the one consumer, read once it is at rest.
class record {
 public:
  explicit record(std::uint32_t threads) : next_(threads) {}
  void execute(const cmdq::command& c) {
    const auto thread = static_cast<std::size_t>(c.word[0] >> 48);
    if (thread >= next_.size() || c.word[1] >> 12 != next_[thread]) {
      ++wrong_;
      return;
    }
    ++next_[thread];
  }
  void sync(std::uint64_t ns) {
    ++syncs_;
    sync_ns_ += ns;
  }
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  /// Nanoseconds that all CMD_SYNCs took, with the time that the device was off its processor.
  [[nodiscard]] std::uint64_t sync_ns() const { return sync_ns_; }
  /// Commands that were doubled, out of order or torn, or that come after a lost one.
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }
  [[nodiscard]] std::uint64_t executed(std::uint32_t thread) const { return next_[thread]; }

 private:
  std::vector<std::uint64_t> next_;
  std::uint64_t syncs_ = 0;
  std::uint64_t sync_ns_ = 0;
  std::uint64_t wrong_ = 0;
};

/// How the device works.
struct device_kind {
  bool threaded = false;      ///< false: consumes inside the PROD write, in no time
  std::uint64_t sync_ns = 0;  ///< time per CMD_SYNC, threaded only
  bool keeps_core = false;    ///< threaded only: never gives its processor away
};

/// While it has nothing to do, and while a CMD_SYNC takes its time, a threaded device gives its processor to the
/// producers: a real device does not compete with them for one. But then it has to wait for its turn, so sync_ns is the
/// least that a CMD_SYNC takes. One that keeps its core has it for itself and is as punctual as a real device; the
/// producers have one core less.
class device {
 public:
  device(cmdq::ring_entry<P>* entries, std::uint32_t threads, device_kind kind)
      : entries_(entries), kind_(kind), record_(threads), core_(kind.threaded && kind.keeps_core) {
    if (kind.threaded) thread_ = std::thread([this] { run(); });
  }
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  ~device() { rest(); }

  void write_prod(std::uint32_t prod) {
    prod_writes_.fetch_add(1, std::memory_order_relaxed);
    if (kind_.threaded)
      prod_.store(prod, std::memory_order_release);
    else
      consume(cons_.load(std::memory_order_acquire), prod);
  }
  /// The count stands in for the device serving one register read at a time.
  std::uint32_t read_cons() {
    cons_reads_.fetch_add(1, std::memory_order_relaxed);
    return cons_.load(std::memory_order_acquire);
  }
  static std::uint32_t read_gerror() { return 0; }
  static std::uint32_t read_gerrorn() { return 0; }
  static void write_gerrorn(std::uint32_t) {}

  /// Consumes what it has been told of and stops. Precondition: nobody writes PROD any more.
  void rest() {
    stop_.store(true, std::memory_order_release);
    if (thread_.joinable()) thread_.join();
  }
  /// Precondition: at rest, or inline with no producer active.
  [[nodiscard]] const record& done() const { return record_; }
  [[nodiscard]] std::uint64_t cons_reads() const { return cons_reads_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t prod_writes() const { return prod_writes_.load(std::memory_order_relaxed); }

 private:
  void consume(std::uint32_t cons, std::uint32_t prod) {
    for (; cons != prod; cons = shape_.to_register(cons + 1)) step(cons);
  }

  /// Executes the entry at `cons` and moves CONS. A CMD_SYNC that signals by MSI has its own entry zeroed first.
  void step(std::uint32_t cons) {
    cmdq::ring_entry<P>& entry = entries_[shape_.slot(cons)];
    const cmdq::command c = entry.get();
    if (cmdq::opcode_of(c.word[0]) != cmdq::opcode_sync) {
      record_.execute(c);
    } else {
      record_.sync(spend());
      if ((c.word[0] >> 12 & 3) == 1) entry.word0.store(0, cmdq::at<cmdq::site::device_msi_write>);
    }
    cons_.store(shape_.to_register(cons + 1), std::memory_order_release);
  }

  [[nodiscard]] std::uint64_t spend() const {
    if (kind_.sync_ns == 0) return 0;
    const std::uint64_t begin = P::now_ns();
    std::uint64_t spent = 0;
    while (spent < kind_.sync_ns) {
      idle();
      spent = P::now_ns() - begin;
    }
    return spent;
  }

  void run() {
    core_.take();
    std::uint32_t cons = 0;
    for (;;) {
      const bool last = stop_.load(std::memory_order_acquire);
      const std::uint32_t prod = prod_.load(std::memory_order_acquire);
      consume(cons, prod);
      if (last) return;
      if (prod == cons) idle();
      cons = prod;
    }
  }

  void idle() const {
    if (kind_.keeps_core)
      P::pause(nullptr, 0);
    else
      std::this_thread::yield();
  }

  cmdq::ring_entry<P>* const entries_;
  const cmdq::geometry shape_{ring_log2};
  const device_kind kind_;
  record record_;
  const own_core core_;
  alignas(64) std::atomic<std::uint32_t> prod_{0};
  std::atomic<std::uint64_t> prod_writes_{0};
  alignas(64) std::atomic<std::uint32_t> cons_{0};
  std::atomic<std::uint64_t> cons_reads_{0};
  alignas(64) std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it runs as soon as it is there
};

static_assert(cmdq::device_type<device>);

}  // namespace bench

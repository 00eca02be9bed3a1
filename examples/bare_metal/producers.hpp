// SPDX-License-Identifier: BSL-1.0
// The test program, as templates over the queue's configuration: N CPUs insert into one ring of a device that nobody
// here wrote. Each command says who sent it and as which; scripts/oracle.py compares that with what the device
// consumed.
#pragma once

#include "board/board.hpp"
#include "board/crew.hpp"

#include <cmdq/platform/aarch64.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/smmuv3/commands.hpp>
#include <cmdq/smmuv3/device.hpp>
#include <cmdq/stats/counters.hpp>

namespace producers {

using cmdq::status;

/// The shipped platform, and which CPU this is: what options.groups needs.
struct bare_metal : cmdq::platform::aarch64::bare_metal {
  static uint32_t index() noexcept { return cmdq::platform::aarch64::cpu_number<board::cpus_per_cluster>(); }

  /// Lets time stand still until the device's PROD is `prod`: no deadline ends before the others have done their part,
  /// however long the host lets them wait.
  static void hold_time_until(uint32_t prod) noexcept {
    awaited_ = prod;
    __atomic_store_n(&held_at_, cmdq::platform::aarch64::bare_metal::now_ns(), __ATOMIC_RELEASE);
  }
  static uint64_t now_ns() noexcept {
    if (const uint64_t held = __atomic_load_n(&held_at_, __ATOMIC_ACQUIRE); held != 0) {
      const cmdq::platform::mmio64 page{board::smmu_base};
      if (page.read32(cmdq::smmuv3::registers::offset::cmdq_prod) != awaited_) return held;
      __atomic_store_n(&held_at_, 0, __ATOMIC_RELEASE);
    }
    return cmdq::platform::aarch64::bare_metal::now_ns();
  }

 private:
  static inline uint64_t held_at_ = 0;  ///< 0: time goes on
  static inline uint32_t awaited_ = 0;
};

/// Registers as the platform wants them accessed.
template <class P>
struct registers_of {
  using type = cmdq::platform::mmio64;
};

template <class Platform, class Allocation>
struct config : cmdq::freestanding_config {
  using platform = Platform;
  using allocation = Allocation;
  using stats = cmdq::stats::counters;
};

/// Registers that the device ignores; only the trace shows that they were written.
inline constexpr uint32_t mark_phase = 0xe00;
inline constexpr uint32_t mark_done = 0xe04;
inline constexpr uint8_t unused_entry = 0xff;  ///< opcode of entries that nobody has written
inline constexpr uint8_t provoked = 0x07;      ///< illegal, on purpose

inline constexpr uint32_t largest_log2 = 19;
inline constexpr uint32_t most_groups = 4;

/// Memory of the queue. One queue at a time uses it, and as much of it as its options say.
template <class P>
cmdq::fixed_memory<P, largest_log2, board::max_cpus, most_groups> storage;

/// What one CPU did in one phase.
struct alignas(64) record {
  uint32_t commands = 0;  ///< legal ones; also the next sequence number
  uint32_t lists = 0;
  uint32_t errors = 0;  ///< reported to this CPU
  const char* wrong = nullptr;
  status code = status::ok;
  cmdq::stats::counters stats;

  bool expect(bool holds, const char* what, status s) {
    if (!holds && wrong == nullptr) {
      wrong = what;
      code = s;
    }
    return holds;
  }
};
inline record records[board::max_cpus];

/// How a phase is set up.
struct phase {
  uint32_t number = 0;
  uint32_t cpus = 0;    ///< that take part
  uint32_t rounds = 0;  ///< for each
  cmdq::options opts;
};

/// One CPU's hand on the queue: builds tagged lists and checks what comes back.
template <class Queue>
class hand {
 public:
  hand(Queue& queue, const phase& p, uint32_t cpu) : queue_(queue), phase_(p), cpu_(cpu), record_(records[cpu]) {
    record_.expect(queue.attach(producer_) == status::ok, "attach", status::too_many_producers);
  }
  hand(const hand&) = delete;
  hand& operator=(const hand&) = delete;
  ~hand() { record_.stats += producer_.stats(); }

  bool ok() const { return record_.wrong == nullptr; }
  record& rec() { return record_; }
  uint32_t cpu() const { return cpu_; }

  /// `n` commands with a CMD_SYNC, done when this returns.
  void issue(uint32_t n, bool last = false) {
    const cmdq::outcome o = producer_.issue(build(n, last), n);
    if (!record_.expect(o.ok() && o.inserted == n && o.done == n, "issue", o.code)) return;
    told_done();
  }
  /// The same while the device stands still: a time-out, but all of it in the ring.
  void issue_in_vain(uint32_t n) {
    const cmdq::outcome o = producer_.issue(build(n, false), n);
    record_.expect(o.code == status::timeout && o.inserted == n && o.done == 0, "issue to a device that stands",
                   o.code);
  }
  /// `n` commands without a CMD_SYNC.
  status insert(uint32_t n) {
    const cmdq::outcome o = producer_.insert(build(n, false), n);
    if (o.code == status::timeout && o.inserted == 0) take_back(n);
    return o.code;
  }
  void insert_ok(uint32_t n) {
    const status s = insert(n);
    record_.expect(s == status::ok, "insert", s);
  }
  /// A lone CMD_SYNC.
  void sync() {
    const cmdq::outcome o = producer_.issue(nullptr, 0);
    ++record_.lists;
    if (record_.expect(o.ok(), "lone CMD_SYNC", o.code)) told_done();
  }
  /// A list on its way, and how many commands of this CPU are done when it is.
  struct pending {
    cmdq::ticket ticket;
    uint32_t covers = 0;
  };
  pending submit(uint32_t n) {
    const auto t = producer_.submit(build(n, false), n);
    record_.expect(t.ok(), "submit", t.code());
    return {*t, record_.commands};
  }
  void poll(const pending& p) {
    status s = status::would_block;
    while (s == status::would_block) s = producer_.poll(p.ticket);
    if (record_.expect(s == status::ok, "poll", s)) told_done(p.covers);
  }
  void wait(const pending& p) {
    const status s = producer_.wait(p.ticket, phase_.opts.deadline_ns);
    if (record_.expect(s == status::ok, "wait", s)) told_done(p.covers);
  }
  /// `n` commands with one illegal command among them.
  void issue_illegal(uint32_t n) {
    cmdq::command* const list = build(n, false);
    for (uint32_t i = n; i > n / 2; --i) list[i] = list[i - 1];
    list[n / 2] = {{provoked, 0}};
    const cmdq::outcome o = producer_.issue(list, n + 1);
    if (!record_.expect(o.code == status::illegal_command && o.inserted == n + 1, "illegal command", o.code)) return;
    ++record_.errors;
    told_done();
  }
  /// To a device that cannot read the ring. What is in the ring will be executed when the device can.
  void issue_unreadable() {
    const cmdq::outcome o = producer_.issue(build(1, false), 1);
    if (o.inserted == 0) take_back(1);
    const bool expected = o.code == status::fetch_abort || o.code == status::device_fault || o.code == status::stalled;
    record_.expect(expected, "issue to a device that cannot read the ring", o.code);
    record_.errors += o.code == status::fetch_abort ? 1 : 0;
  }

 private:
  cmdq::command* build(uint32_t n, bool last) {
    constexpr cmdq::command plain = *cmdq::smmuv3::encode(cmdq::smmuv3::tlbi_nh_va{});
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t left = n - 1 - i;
      const uint64_t end = last && left == 0 ? 1 : 0;
      list_[i] = plain;
      list_[i].word[0] |= uint64_t{cpu_} << 48;
      list_[i].word[1] |= uint64_t{record_.commands + i} << 12 | left << 40 | uint64_t{phase_.number} << 48 | end << 56;
    }
    record_.commands += n;
    ++record_.lists;
    return list_;
  }
  void take_back(uint32_t n) {
    record_.commands -= n;
    --record_.lists;
  }
  void told_done() { told_done(record_.commands); }
  void told_done(uint32_t commands) {
    cmdq::platform::mmio64{board::smmu_base}.write32(mark_done, cpu_ << 25 | commands);
  }

  static constexpr uint32_t longest = 65;
  Queue& queue_;
  const phase& phase_;
  uint32_t cpu_;
  record& record_;
  typename Queue::producer producer_;
  cmdq::command list_[longest];
};

}  // namespace producers

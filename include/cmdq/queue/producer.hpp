// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/producer_cell.hpp>
#include <cmdq/queue/ticket.hpp>
#include <cmdq/queue/writer.hpp>

namespace cmdq {

/// A right to insert, held by one thread (or CPU) at a time. At most options.producers exist at once, which is what
/// bounds the entries outstanding. Ends with its lifetime.
template <class Queue>
class producer {
 public:
  using command = typename Queue::command;

  constexpr producer() noexcept = default;
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;
  /// A writer that is open goes on with the new producer.
  producer(producer&& other) noexcept { take(other); }
  producer& operator=(producer&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~producer() { release(); }
  [[nodiscard]] explicit operator bool() const noexcept { return queue_ != nullptr; }

  /// Inserts `n` commands and waits until the device has done them. Returns ok, an error of these very commands or of
  /// this producer's insert()s since it last waited (illegal_command, fetch_abort, atc_timeout), timeout, stalled,
  /// device_fault, busy or invalid_argument (`inserted` tells how far it came). n = 0: a lone CMD_SYNC.
  /// Every call ends within options.deadline_ns of its first wait, whatever the device and other CPUs do. One that ends
  /// by timeout leaves what it inserted in the ring; this producer's next call first waits, within its own budget,
  /// until that is done, and returns its error, if it had one, with nothing of its own inserted. Nobody else is
  /// affected. Progress: lock-free up to the claim (wait-free except cmpxchg_loop; in groups waiting for the group's
  /// leader), then waiting, within the budget, for CPUs that are between claim and publication.
  outcome issue(const command* list, uint32_t n) noexcept { return issue_for(list, n, budget()); }
  /// The same with a time budget of its own, in nanoseconds.
  outcome issue_for(const command* list, uint32_t n, uint64_t ns) noexcept {
    return Queue::template insert_for<true>(list, n, *this, ns);
  }

  /// Inserts `n` commands and returns once they are in the ring: not done, but sure to be executed in order, and
  /// covered by this producer's next issue(), which also tells their errors (none follows: they end with the producer).
  /// n = 0 does nothing. Lists with ATC_INV are waited for, since their errors are reported at a CMD_SYNC only, and so
  /// is each list after producer_cell::most_unsynced others. Else as issue(), but waits for the device only for space.
  outcome insert(const command* list, uint32_t n) noexcept {
    return Queue::template insert_for<false>(list, n, *this, budget());
  }

  /// Inserts at most options.batch_limit commands with a CMD_SYNC and returns without waiting for it; ATC invalidations
  /// wait for this producer's insert()s before them, and tell their errors. Else errors are out_of_range (too long),
  /// invalid_argument, stalled, timeout (no space), device_fault: nothing was inserted.
  result<ticket> submit(const command* list, uint32_t n) noexcept {
    if (queue_ == nullptr) return refusal{status::invalid_argument, "producer", 0, 1};
    return queue_->submit(list, n, *this);
  }

  /// Is the ticket's list done? ok, would_block, its error, expired (too old to be answered for), or device_fault.
  /// Never waits. Cost: a few loads, at most three device reads (CONS, GERROR, GERRORN), more where an error is
  /// handled.
  [[nodiscard]] status poll(const ticket& t) noexcept {
    return queue_ == nullptr ? status::invalid_argument : queue_->poll(t, *this);
  }

  /// Waits for a ticket, at most `ns`. As poll(), with timeout in place of would_block.
  [[nodiscard]] status wait(const ticket& t, uint64_t ns) noexcept {
    return queue_ == nullptr ? status::invalid_argument : queue_->wait(t, ns, *this);
  }

  /// Claims `n` entries to be filled in place, at most options.batch_limit; `sync`: with a CMD_SYNC that commit()
  /// waits for. The writer's code(): ok, out_of_range, invalid_argument (n = 0, or a device that wants lists issued
  /// twice or of one class), stalled, timeout, device_fault; nothing is claimed then. The budget of the call
  /// starts with its first wait; time spent filling does not count.
  [[nodiscard]] writer<Queue> reserve(uint32_t n, bool sync) noexcept {
    return queue_ == nullptr ? writer<Queue>(*this, status::invalid_argument) : queue_->reserve(n, sync, *this);
  }

  /// Why the queue's device must not be given `c` (options.device), with field, value and limit; ok when it may. Every
  /// call refuses such a command. Pure.
  [[nodiscard]] refusal permits(const command& c) const noexcept {
    if (queue_ == nullptr) return {status::invalid_argument, "producer", 0, 1};
    return Queue::family::permits(queue_->opts().device, c);
  }

  [[nodiscard]] const typename Queue::stats_type& stats() const noexcept { return stats_; }

 private:
  friend Queue;
  friend class writer<Queue>;
  producer(Queue& q, producer_cell<typename Queue::P>& cell) noexcept : queue_(&q), cell_(&cell) {}
  [[nodiscard]] uint64_t budget() const noexcept { return queue_ == nullptr ? 0 : queue_->opts().deadline_ns; }
  void take(producer& other) noexcept {
    queue_ = other.queue_;
    cell_ = other.cell_;
    writer_ = other.writer_;
    shared_ticket_ = other.shared_ticket_;
    unsynced_ = other.unsynced_;
    unsynced_since_ = other.unsynced_since_;
    stats_ = other.stats_;
    if (writer_ != nullptr) writer_->by_ = this;
    other.queue_ = nullptr;
    other.writer_ = nullptr;
  }
  /// What an open writer has is published. What is owed stays with the cell, which is given out again once it is
  /// settled.
  void release() noexcept {
    if (writer_ != nullptr) static_cast<void>(writer_->commit());
    // An attached producer has a cell. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
    if (queue_ != nullptr) cell_->taken.store(0, at<site::detach>);
    queue_ = nullptr;
  }
  /// Must a CMD_SYNC come before an ATC invalidation of this producer (bug L20)?
  [[nodiscard]] bool owes_sync() const noexcept { return unsynced_ != 0 || shared_ticket_; }
  Queue* queue_ = nullptr;
  producer_cell<typename Queue::P>* cell_ = nullptr;
  writer<Queue>* writer_ = nullptr;  ///< that is open
  bool shared_ticket_ = false;       ///< submitted a list whose CMD_SYNC may come later
  uint32_t unsynced_ = 0;            ///< lists that nobody waited for yet
  uint32_t unsynced_since_ = 0;      ///< the health word before the first of them
  [[no_unique_address]] typename Queue::stats_type stats_{};
};

}  // namespace cmdq

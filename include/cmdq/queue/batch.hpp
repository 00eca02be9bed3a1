// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/command_queue.hpp>

namespace cmdq {

/// Gathers commands of one producer and hands them on in full lists: fewer insertions, one wait at the end. All of them
/// go to the producer's queue, so that the CMD_SYNC of finish() covers them all. What is not finished at the end of its
/// life is finished then, as finish() does; nobody sees that outcome. Not copyable; not for several threads.
template <class Queue, uint32_t Capacity = 64>
class batch {
 public:
  static_assert(Capacity >= 1 && Capacity <= max_batch, "a batch holds 1..1024 commands");

  using command = typename Queue::command;

  explicit batch(typename Queue::producer& by) noexcept : by_(by) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch() {
    if (n_ != 0 || unwaited_) static_cast<void>(finish());
  }

  /// Adds a command; inserts what was gathered when there is no room. Errors, with `c` not added and those before kept
  /// where they were not inserted: invalid_argument (a CMD_SYNC) and what producer::permits() says of `c`; else as
  /// producer::insert().
  status add(const command& c) noexcept {
    if (Queue::family::is_sync(c)) return status::invalid_argument;
    if (const status s = by_.permits(c).code; s != status::ok) return s;
    if (n_ == Capacity) {
      const outcome o = by_.insert(list_, n_);
      settle(o);
      if (!o.ok()) return o.code;
    }
    list_[n_++] = c;
    return status::ok;
  }

  /// Inserts the rest and waits for all of it, as producer::issue(). `inserted`, `done` and `lists` count the whole
  /// batch. Where it does not end well, what was not inserted is still gathered.
  outcome finish() noexcept {
    const outcome o = by_.issue(list_, n_);
    settle(o);
    unwaited_ = false;  // the caller knows how the wait ended
    total_.code = o.code;
    if (o.ok()) total_.done = total_.inserted;
    const outcome whole = total_;
    if (o.ok()) total_ = {};
    return whole;
  }

  [[nodiscard]] uint32_t gathered() const noexcept { return n_; }

 private:
  void settle(const outcome& o) noexcept {
    if (total_.lists == 0) total_.first = o.first;
    total_.inserted += o.inserted;
    total_.lists += o.lists;
    unwaited_ = unwaited_ || o.lists != 0;
    for (uint32_t i = o.inserted; i < n_; ++i) list_[i - o.inserted] = list_[i];
    n_ -= o.inserted;
  }

  typename Queue::producer& by_;
  command list_[Capacity];
  uint32_t n_ = 0;
  bool unwaited_ = false;  ///< some of it is in the ring, and no finish() came behind
  outcome total_;
};

}  // namespace cmdq

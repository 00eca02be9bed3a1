// SPDX-License-Identifier: BSL-1.0
// The device process: consumes, and keeps the books.
#pragma once

#include <vector>

#include "world.hpp"

namespace processes {

/// Checks what is consumed: each worker's commands come once, in order, without gaps, its lists in one piece.
class books {
 public:
  books(const world& w, std::size_t workers) : world_(w), may_skip_(workers) {}

  void consume(const cmdq::command& c) noexcept {
    if (cmdq::opcode_of(c.word[0]) == cmdq::opcode_sync || cmdq::opcode_of(c.word[0]) == 0) {
      interrupted();
      return;
    }
    const label l = label::of(c);
    if (l.worker >= may_skip_.size() || l.n == 0) return lose(1);  // nobody has issued that
    if (remaining_ != 0 && (l.worker != worker_ || l.index != index_ + 1)) interrupted();
    if (l.index == 0) remaining_ = l.n;
    worker_ = l.worker;
    index_ = l.index;
    if (remaining_ != 0) --remaining_;
    std::atomic<std::uint64_t>& last = world_.of_worker(l.worker).consumed;
    const std::uint64_t before = last.load(std::memory_order_relaxed);
    if (l.number <= before) {
      world_.shared_control().repeated.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (l.number != before + 1 && !may_skip_[l.worker]) lose(l.number - before - 1);
    may_skip_[l.worker] = false;
    last.store(l.number, std::memory_order_release);
  }

  /// What the queue before had not consumed is not executed.
  void begin_queue() {
    remaining_ = 0;
    may_skip_.assign(may_skip_.size(), true);
  }

 private:
  void interrupted() noexcept {
    lose(remaining_);
    remaining_ = 0;
  }
  void lose(std::uint64_t n) noexcept { world_.shared_control().lost.fetch_add(n, std::memory_order_relaxed); }

  const world& world_;
  std::vector<bool> may_skip_;
  unsigned remaining_ = 0;  ///< of the list that is being consumed
  unsigned worker_ = 0;
  unsigned index_ = 0;
};

/// Serves one queue until it is to be disabled. Returns false when its block cannot be opened.
template <class Shared>
bool serve(const world& w, books& b) {
  control& c = w.shared_control();
  const auto queue = Shared::open(w.block(c.queue.load(std::memory_order_acquire)), w.block_bytes());
  if (!queue) return false;
  const cmdq::geometry shape{queue->queue().opts().log2_size};
  device& d = queue->device();
  std::uint32_t cons = d.cons.load(std::memory_order_relaxed);
  while (c.enabled.load(std::memory_order_acquire) != 0) {
    const std::uint32_t prod = d.prod.load(std::memory_order_acquire);
    if (prod == cons) platform::yield();
    // A few at a time, so that it can stop in the middle of anything.
    for (unsigned k = 0; k < 4 && prod != cons; ++k) {
      b.consume(queue->entries()[shape.slot(cons)].get());
      cons = shape.to_register(cons + 1);
      d.cons.store(cons, std::memory_order_release);
    }
  }
  return true;
}

template <class Shared>
[[noreturn]] void run_device(const world& w, std::size_t workers) {
  control& c = w.shared_control();
  books b(w, workers);
  for (;;) {
    if (c.enabled.load(std::memory_order_acquire) != 0) {
      c.enabled_ack.store(1, std::memory_order_release);
      b.begin_queue();
      if (!serve<Shared>(w, b)) _exit(3);
    }
    c.enabled_ack.store(0, std::memory_order_release);
    platform::yield();
  }
}

}  // namespace processes

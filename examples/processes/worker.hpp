// SPDX-License-Identifier: BSL-1.0
// A worker process: attaches, and issues numbered commands until it is told to stop or killed.
#pragma once

#include <unistd.h>

#include "world.hpp"

namespace processes {

template <class Shared>
class worker {
 public:
  worker(const world& w, unsigned place, std::uint16_t number)
      : world_(w), control_(w.shared_control()), post_(control_.posts[place]), number_(number), dice_(number) {}

  /// Returns when it is told to stop. 0, or 3 when a block cannot be opened.
  int run() {
    while (!stopped()) {
      const std::uint32_t use = control_.queue.load(std::memory_order_acquire);
      const auto queue = Shared::open(world_.block(use), world_.block_bytes());
      if (!queue) return 3;
      typename Shared::producer mine;
      if (!attach(*queue, use, mine)) continue;
      while (!stopped() && same(use)) call(mine);
    }
    return 0;
  }

 private:
  [[nodiscard]] bool stopped() const { return control_.stop.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool same(std::uint32_t use) const { return control_.queue.load(std::memory_order_acquire) == use; }

  bool attach(const Shared& queue, std::uint32_t use, typename Shared::producer& mine) {
    while (!stopped() && same(use)) {
      if (queue.queue().attach(mine) == cmdq::status::ok) return true;
      platform::yield();
    }
    return false;
  }

  void call(typename Shared::producer& mine) {
    cmdq::command list[batch_limit];
    const auto n = static_cast<std::uint8_t>(1 + dice_.below(batch_limit));
    for (std::uint8_t i = 0; i < n; ++i) list[i] = label{number_, i, n, next_ + i}.command();
    post_.began.store(now_ns(), std::memory_order_relaxed);
    const bool waits = dice_.below(4) != 0;
    const cmdq::outcome o = waits ? mine.issue(list, n) : mine.insert(list, n);
    post_.began.store(0, std::memory_order_relaxed);
    post_.calls.fetch_add(1, std::memory_order_relaxed);
    post_.ended[static_cast<unsigned>(o.code) % statuses].fetch_add(1, std::memory_order_relaxed);
    next_ += o.inserted;  // a call that inserted nothing says so: the same numbers again
    if (o.code == cmdq::status::ok) {
      post_.last_ok.store(now_ns(), std::memory_order_relaxed);
      if (waits) check_consumed();
    } else {
      platform::yield();
    }
  }

  /// ok: this list and those before it are done.
  void check_consumed() {
    const std::uint64_t done = world_.of_worker(number_).consumed.load(std::memory_order_acquire);
    if (done + 1 < next_) control_.lost.fetch_add(next_ - 1 - done, std::memory_order_relaxed);
  }

  const world& world_;
  control& control_;
  post& post_;
  std::uint16_t number_;
  std::uint64_t next_ = 1;
  dice dice_;
};

}  // namespace processes

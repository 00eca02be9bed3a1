// SPDX-License-Identifier: BSL-1.0
// A software queue in front of the ring: producers push pointers to their lists, one pump thread takes what is there,
// writes it to the ring with one CMD_SYNC behind, waits for that and tells the producers. Queue: push(request*), pop().
#pragma once

#include "rings.hpp"

namespace bench::baselines {

struct request {
  const cmdq::command* list = nullptr;
  std::uint32_t n = 0;
  std::atomic<bool> done{false};
};

template <class Queue>
class pumped_ring : counted_ring {
 public:
  pumped_ring(device& dev, cmdq::ring_entry<P>* ring) : counted_ring(dev, ring), pump_([this] { run(); }) {}
  pumped_ring(const pumped_ring&) = delete;
  pumped_ring& operator=(const pumped_ring&) = delete;
  ~pumped_ring() { close(); }

  void issue(const cmdq::command* list, std::uint32_t n, std::uint64_t&) {
    request mine;
    mine.list = list;
    mine.n = n;
    queue_.push(&mine);
    for (backoff wait; !mine.done.load(std::memory_order_acquire);) wait();
  }
  void close() {
    stop_.store(true, std::memory_order_relaxed);
    if (pump_.joinable()) pump_.join();
  }

 private:
  void run() {
    std::vector<request*> taken;
    for (backoff wait; !stop_.load(std::memory_order_relaxed);) {
      taken.clear();
      const std::uint64_t start = next_;
      // Each batch is waited for, so the whole ring is free; a list has at most 64 commands.
      while (next_ - start < entries() - 65) {
        request* const r = queue_.pop();
        if (r == nullptr) break;
        write(next_, r->list, r->n);  // its CMD_SYNC is overwritten by what follows
        next_ += r->n;
        taken.push_back(r);
      }
      if (taken.empty()) {
        wait();
        continue;
      }
      wait = backoff();
      publish(++next_);
      await_consumed(next_);
      for (request* r : taken) r->done.store(true, std::memory_order_release);
    }
  }

  Queue queue_;
  std::uint64_t next_ = 0;
  std::atomic<bool> stop_{false};
  std::thread pump_;  // last: it runs as soon as it is there
};

}  // namespace bench::baselines

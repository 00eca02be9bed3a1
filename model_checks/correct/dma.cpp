// SPDX-License-Identifier: BSL-1.0
// The DMA layer's lock, flush queue and its timer, and the switch to lazy mode.
#include "dma_scenarios.hpp"

namespace cmdq::checks {
namespace {

struct dma_lock : exclusion<dma::spin_lock<P>> {
  static constexpr facts about{.name = "dma/lock",
                               .proves = "one holder at a time, who sees what the last one wrote",
                               .bounds = "2 threads, 1 acquisition each",
                               .threads = 2,
                               .how = schedule::full};
};

struct flush_covers : flush_scenario<dma::flush_queue<P>> {
  static constexpr facts about{.name = "dma/flush_covers_unmap",
                               .proves = "a range is released only after an invalidation that began after its clear",
                               .bounds = "1 unmap beside 1 flush",
                               .threads = 2,
                               .how = schedule::full};
  void thread(unsigned index) override {
    if (index == 0) {
      unmap(0);
    } else {
      flush();
    }
  }
};

/// The first range is released by the second unmap, on another CPU than the one that flushed.
struct flush_released_elsewhere : flush_scenario<dma::flush_queue<P>> {
  static constexpr facts about{.name = "dma/flush_released_elsewhere",
                               .proves = "who releases a range sees what the invalidation did",
                               .bounds = "2 unmaps beside 1 flush",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
  void thread(unsigned index) override {
    if (index == 1) return flush();
    unmap(0);
    unmap(1);
  }
};

/// Whatever the timer's flush does not cover finds the timer armed again.
struct flush_timer : flush_scenario<dma::flush_queue<P>> {
  static constexpr facts about{.name = "dma/timer_armed",
                               .proves = "a range that is left waiting has a timer that will flush it",
                               .bounds = "1 unmap beside a timer that fires; another unmap before both",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
  flush_timer() { unmap(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      unmap(0);
    } else {
      static_cast<void>(queue.on_timer(0, ~0ULL, flush_call(), release_call()));
    }
  }
  void finish() override { check(queue.pending() == 0 || queue.timer_deadline() != 0, "nobody waits for ever"); }
};

/// The owner of the memory closes the queue while the timer's callback runs.
struct flush_closed : flush_scenario<dma::flush_queue<P>> {
  static constexpr facts about{.name = "dma/timer_closed",
                               .proves = "close() waits for a callback that runs and turns later ones away (L88)",
                               .bounds = "1 timer callback beside close()",
                               .threads = 2,
                               .how = schedule::full};
  bool gone = false;
  flush_closed() { unmap(1); }
  void thread(unsigned index) override {
    if (index == 1) {
      const auto flushed = [this](std::uint32_t) {
        check(!gone, "no callback after close()");
        device_memory.set(1);
        return status::ok;
      };
      static_cast<void>(queue.on_timer(0, ~0ULL, flushed, [](std::uint32_t, const dma::deferred&) {}));
      return;
    }
    queue.close();
    gone = true;
    device_memory.set(2);  // the memory goes
  }
};

struct lazy_switch : lazy_scenario {
  static constexpr facts about{.name = "dma/lazy_switched_on",
                               .proves = "who unmaps lazily sees the flush queue set up (L90)",
                               .bounds = "1 unmap beside the switch",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 2};
};

const registration<dma_lock> r1;
const registration<flush_covers> r2;
const registration<flush_released_elsewhere> r3;
const registration<flush_timer> r4;
const registration<flush_closed> r5;
const registration<lazy_switch> r6;

}  // namespace
}  // namespace cmdq::checks

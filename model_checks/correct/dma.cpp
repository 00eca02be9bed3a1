// SPDX-License-Identifier: BSL-1.0
// The DMA layer's lock, flush queue and its timer, the switch to lazy mode, its gate, producers and ATC streams.
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

/// A device goes away behind the gate and comes back.
struct gate_closed : gate_scenario<dma::gate<P>> {
  static constexpr facts about{
      .name = "dma/gate_closed",
      .proves = "nobody is inside once the gate is empty (L88); who comes in later sees what was done",
      .bounds = "1 call, then another, beside closing and opening",
      .threads = 2,
      .how = schedule::bounded,
      .bound = 3};
};

/// A producer of the queue passes from one call to the next.
struct slot_handed_on : slot_scenario {
  static constexpr facts about{.name = "dma/slot_handed_on",
                               .proves = "a producer is used by one call at a time, who sees what the last one wrote",
                               .bounds = "2 calls, 1 producer",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
};

/// A device with an ATC is attached while an unmap invalidates.
struct atc_attached : atc_scenario {
  static constexpr facts about{.name = "dma/atc_attached",
                               .proves = "an ATC that may hold a translation is named by the unmap's invalidation",
                               .bounds = "1 unmap beside 1 attach and a walk",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 2};
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
const registration<gate_closed> r5;
const registration<lazy_switch> r6;
const registration<slot_handed_on> r7;
const registration<atc_attached> r8;

}  // namespace
}  // namespace cmdq::checks

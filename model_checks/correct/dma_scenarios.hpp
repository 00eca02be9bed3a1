// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/fixtures.hpp"

#include <cmdq/dma/flush_queue.hpp>
#include <cmdq/dma/gate.hpp>
#include <cmdq/dma/mapper.hpp>
#include <cmdq/dma/queue_invalidator.hpp>

namespace cmdq::checks {

template <class Lock>
struct exclusion : scenario {
  Lock lock;
  P::plain<std::uint32_t> counted;
  void thread(unsigned) override {
    lock.lock();
    counted.set(counted.get() + 1);
    lock.unlock();
  }
  void finish() override { check(counted.get() == 2, "both were alone"); }
};

/// A flush queue over two translations and a device that may hold both until an invalidation that finds them cleared.
template <class Queue>
struct flush_scenario : scenario {
  alignas(256) unsigned char bytes[8192];
  arena_words words{bytes, sizeof bytes};
  Queue queue;
  P::atomic<std::uint64_t> entry[2];
  P::plain<std::uint32_t> device_memory;  ///< what the invalidation orders
  bool held[2] = {true, true};            ///< the device holds the translation

  flush_scenario() {
    dma::arena memory(bytes, sizeof bytes);
    const bool up = queue.init(memory, {.cpus = 1, .entries = 4, .period_ns = 1}) == status::ok;
    check(up, "the flush queue fits");
    for (P::atomic<std::uint64_t>& e : entry) e.store(1, at<site::table_set>);
  }

  /// An invalidation drops all translations; the device may walk again at once and hold what is not cleared.
  auto flush_call() {
    return [this](std::uint32_t) {
      for (unsigned i = 0; i < 2; ++i) held[i] = held[i] && entry[i].load(at<site::table_walk>) != 0;
      device_memory.set(1);
      return status::ok;
    };
  }
  auto release_call() {
    return [this](std::uint32_t, const dma::deferred& d) {
      check(!held[d.iova], "no range is released while the device may hold its translation");
      static_cast<void>(device_memory.get());
    };
  }
  void unmap(unsigned i) {
    entry[i].store(0, at<site::table_clear>);
    check(queue.add(0, {i, 4096}, flush_call(), release_call()) == status::ok, "the range is taken");
  }
  void flush() { check(queue.flush_all(0, flush_call(), release_call()) == status::ok, "the flush succeeds"); }
};

template <class Gate>
struct gate_scenario : scenario {
  alignas(256) unsigned char bytes[512];
  arena_words words{bytes, sizeof bytes};
  Gate gate;
  P::plain<std::uint32_t> device;  ///< what the gate is for
  gate_scenario() {
    dma::arena memory(bytes, sizeof bytes);
    check(gate.init(memory, 1) == status::ok, "the gate fits");
  }
  void thread(unsigned index) override {
    if (index == 1) {
      gate.close();
      if (!gate.empty(no_deadline)) return;
      device.set(device.get() + 1);
      gate.open();
      return;
    }
    for (int call = 0; call < 2; ++call) {
      if (!gate.enter(0)) continue;
      device.set(device.get() + 1);
      gate.leave(0);
    }
  }
};

/// A queue whose producers write plain data.
struct slot_scenario : scenario {
  struct queue_type {
    struct done {
      status code = status::ok;
    };
    struct producer {
      P::plain<std::uint32_t>* used = nullptr;
      done issue(const command*, std::uint32_t) noexcept {
        used->set(used->get() + 1);
        return {};
      }
      done insert(const command*, std::uint32_t) noexcept { return {}; }
    };
    struct options_type {
      std::uint64_t deadline_ns = no_deadline;
    };
    options_type opts() const noexcept { return {}; }
    status attach(producer& p) noexcept {
      p.used = &used;
      return status::ok;
    }
    P::plain<std::uint32_t> used;
  };
  alignas(256) unsigned char bytes[1024];
  arena_words words{bytes, sizeof bytes};
  queue_type queue;
  dma::queue_invalidator<P, queue_type> invalidator;
  slot_scenario() {
    dma::arena memory(bytes, sizeof bytes);
    check(invalidator.init(memory, queue, 1, {}) == status::ok, "the producer fits");
  }
  void thread(unsigned) override { check(invalidator.invalidate_all(0) == status::ok, "a producer is found"); }
  void finish() override { check(queue.used.get() == 2, "both were alone"); }
};

struct atc_scenario : scenario {
  dma::atc_streams<P> streams;
  P::atomic<std::uint64_t> entry{1};
  bool held = false;     ///< the device's ATC has the translation
  bool dropped = false;  ///< the invalidation named its stream
  void thread(unsigned index) override {
    if (index == 1) {
      check(streams.attach({.sid = 1}) == status::ok, "there is room");
      held = entry.load(at<site::table_walk>) != 0;
      return;
    }
    entry.store(0, at<site::table_clear>);
    streams.each([&](const dma::atc_stream&) { dropped = true; });
  }
  void finish() override { check(!held || dropped, "no translation is left in an ATC"); }
};

/// Words that know when they were built: using one before its construction is visible is a race.
struct born_platform : P {
  template <class T>
  class atomic : public P::atomic<T> {
    using base = P::atomic<T>;

   public:
    atomic() { arena_words::note(this, true); }
    explicit atomic(T v) : base(v) { arena_words::note(this, true); }
    template <class S>
    T load(S s) const noexcept {
      return built().load(s);
    }
    template <class S>
    void store(T v, S s) noexcept {
      built().store(v, s);
    }
    template <class S>
    T exchange(T v, S s) noexcept {
      return built().exchange(v, s);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S s) noexcept {
      return built().compare_exchange(expected, v, s);
    }
    template <class S>
    T fetch_add(T v, S s) noexcept {
      return built().fetch_add(v, s);
    }
    template <class S>
    T fetch_and(T v, S s) noexcept {
      return built().fetch_and(v, s);
    }
    template <class S>
    T fetch_or(T v, S s) noexcept {
      return built().fetch_or(v, s);
    }
    template <class S>
    T fetch_xor(T v, S s) noexcept {
      return built().fetch_xor(v, s);
    }

   private:
    const base& built() const {
      static_cast<void>(born_.get());
      return *this;
    }
    base& built() {
      static_cast<void>(born_.get());
      return *this;
    }
    plain<bool> born_{true};
  };
};

/// One thread unmaps what was mapped before, another switches the mapper to lazy.
struct lazy_scenario : scenario {
  struct instant {
    status invalidate(std::uint32_t, const dma::page_run*, std::uint32_t) noexcept { return status::ok; }
    status invalidate_all(std::uint32_t) noexcept { return status::ok; }
  };
  alignas(256) unsigned char bytes[160 * 1024];
  arena_words words{bytes, sizeof bytes};
  dma::arena memory{bytes, sizeof bytes};
  instant invalidations;
  dma::mapper<born_platform, instant> mapper;
  std::uint64_t iova = 0;

  lazy_scenario() {
    const dma::mapper_options small{.iova = {.cpus = 1, .depot_magazines = 1, .log2_pages = 5}};
    check(mapper.init(memory, small, invalidations) == status::ok, "the mapper fits");
    const result<std::uint64_t> mapped = mapper.map(0, {}, 0x10000, 4096);
    check(mapped.ok(), "there is room for a page");
    iova = *mapped;
  }
  void thread(unsigned index) override {
    if (index == 0) {
      check(mapper.unmap(0, {}, iova, 4096) == status::ok, "unmap succeeds");
    } else {
      check(mapper.set_mode(dma::mode::lazy, memory, {.cpus = 1, .entries = 4}) == status::ok, "lazy mode fits");
    }
  }
};

}  // namespace cmdq::checks

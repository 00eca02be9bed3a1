// SPDX-License-Identifier: BSL-1.0
// Several threads at one device. A run under ThreadSanitizer says more than a plain one.
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::device_drive;

/// One thread writes PROD, one acknowledges errors: whichever finds the consumer busy must not be forgotten.
CMDQ_TEST(no_register_write_is_lost_in_write) {
  constexpr uint32_t total = 20000;
  rig r(4, device_drive::in_write);
  std::atomic<bool> stop{false};
  std::thread handler([&] {
    while (!stop.load()) {
      if (!r.error_active()) {
        std::this_thread::yield();
        continue;
      }
      r.entries[r.shape.slot(r.cons_index())].put(make_sync(sync_signal::none));
      r.acknowledge();
    }
  });
  position cons = 0;
  for (uint32_t i = 0; i < total; ++i) {
    while (r.prod - cons == r.shape.entries()) {
      cons += r.shape.ahead(cons, r.cons_index());
      std::this_thread::yield();
    }
    r.give(i % 7 == 0 ? bad() : tlbi(i));
  }
  for (uint64_t spins = 0; r.shape.ahead(cons, r.cons_index()) != r.prod - cons; ++spins) {
    CMDQ_CHECK(spins < 100'000'000);
    std::this_thread::yield();
  }
  stop = true;
  handler.join();
  CMDQ_CHECK_EQ(r.log.executed.size(), total);
  for (uint32_t i = 0; i < total; ++i) CMDQ_CHECK_EQ(r.log.executed[i].at, i);
  CMDQ_CHECK_EQ(r.device.odd.total(), 0u);
}

namespace {

/// std::atomic, but something may happen just before the consumer lays down its work.
struct interrupted : platform_t {
  static inline std::function<void()> before_rest;
  static void interrupt() {
    if (const auto now = std::exchange(before_rest, nullptr)) now();
  }
  template <class T>
  class atomic : public platform_t::atomic<T> {
   public:
    using platform_t::atomic<T>::atomic;
    template <class S>
    void store(T v, S s) noexcept {
      if (S::id == site::device_rest) interrupt();
      platform_t::atomic<T>::store(v, s);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S s) noexcept {
      if (S::id == site::device_rest) interrupt();
      return platform_t::atomic<T>::compare_exchange(expected, v, s);
    }
  };
};

}  // namespace

/// The same in the one moment that matters: after the last look at the registers, before the consumer is free again.
CMDQ_TEST(register_write_at_the_last_moment_is_seen) {
  std::vector<ring_entry<interrupted>> entries(4);
  model::hardware<interrupted, ring_entry<interrupted>> device(device_drive::in_write);
  CMDQ_CHECK_EQ(device.attach(entries.data(), 2, ring_base), status::ok);
  for (uint64_t i = 0; i < 2; ++i) entries[i].put(tlbi(i));
  interrupted::before_rest = [&] { device.write_prod(2); };
  device.write_prod(1);
  CMDQ_CHECK(!interrupted::before_rest);
  CMDQ_CHECK_EQ(device.read_cons(), 2u);
}

CMDQ_TEST(device_thread) {
  rig r(4, device_drive::stepped);
  r.device.speed.command_ns = 200;
  r.device.speed.sync_ns = 1000;
  std::atomic<bool> stop{false};
  std::thread device([&] { r.device.run_until([&] { return stop.load(); }); });
  position cons = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    const position sync = r.prod + 1;
    while (r.prod + 2 - cons > r.shape.entries()) {
      cons += r.shape.ahead(cons, r.cons_index());
      std::this_thread::yield();
    }
    r.put(tlbi(i));
    r.put(make_msi_sync(r.address(sync), 0));
    r.tell();
    const auto& word = r.entries[r.shape.slot(sync)].word0;
    while (static_cast<uint32_t>(word.load(at<site::msi_poll>)) != 0) std::this_thread::yield();
    CMDQ_CHECK_EQ(r.log.effects.size(), i + 1);  // ordered by the MSI write alone
  }
  stop = true;
  device.join();
  CMDQ_CHECK_EQ(r.log.executed.size(), 4000u);
}

CMDQ_TEST(device_takes_the_time_it_is_told) {
  rig r;
  r.device.speed.command_ns = 200'000;
  r.device.speed.sync_ns = 1'000'000;
  for (uint64_t i = 0; i < 5; ++i) r.put(tlbi(i));
  r.put(make_sync(sync_signal::none));
  r.tell();
  const uint64_t start = platform_t::now_ns();
  r.device.drain();
  CMDQ_CHECK(platform_t::now_ns() - start >= 2'000'000);
}

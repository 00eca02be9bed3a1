// SPDX-License-Identifier: BSL-1.0
// What every hosted platform shares: steady clock, pause, yield, sleep, a mutex and a condition to park on.
#pragma once

#include <cmdq/platform/builtins.hpp>
#include <cmdq/platform/hosted_cpus.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace cmdq::platform {

/// Plain data on a hosted system: nothing but the value. ThreadSanitizer sees races on it.
template <class T>
using hosted_plain = builtins::plain<T>;

struct hosted {
  struct critical_section {};
  using mutex = std::mutex;

  /// A condition with an absolute deadline in now_ns() time; `never` waits without one.
  class condition {
   public:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    void wait_until(std::unique_lock<std::mutex>& lock, std::uint64_t end_ns) {
      if (end_ns == never) {
        cv_.wait(lock);
        return;
      }
      const std::chrono::steady_clock::time_point end{
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(end_ns))};
      cv_.wait_until(lock, end);
    }
    void notify_all() noexcept { cv_.notify_all(); }

   private:
    std::condition_variable cv_;
  };
  using unique_lock = std::unique_lock<std::mutex>;

  static void pause(const void* line, unsigned round) noexcept { default_hooks::pause(line, round); }
  static void yield() noexcept { std::this_thread::yield(); }
  /// The CPU that the thread is on now, numbered so that neighbours have near numbers; 0 where the system does not
  /// tell.
  static std::uint32_t index() noexcept { return cpu_rank(); }
  static std::uint32_t cpus() noexcept { return cpu_count(); }
  static void sleep_ns(std::uint64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }
  static std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }
};

}  // namespace cmdq::platform

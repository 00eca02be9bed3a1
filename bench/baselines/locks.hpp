// SPDX-License-Identifier: BSL-1.0
// The locks of the baselines. All give the processor away after a while, or they would measure the scheduler's
// patience.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace bench::baselines {

class backoff {
 public:
  void operator()() {
    if (++rounds_ > 16) std::this_thread::yield();
  }

 private:
  unsigned rounds_ = 0;
};

/// Test and test-and-set.
class spin_lock {
 public:
  static constexpr const char* name = "spin_lock";
  class guard {
   public:
    explicit guard(spin_lock& l) : lock_(l) {
      for (backoff wait;
           lock_.held_.load(std::memory_order_relaxed) || lock_.held_.exchange(true, std::memory_order_acquire);)
        wait();
    }
    ~guard() { lock_.held_.store(false, std::memory_order_release); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    spin_lock& lock_;
  };

 private:
  std::atomic<bool> held_{false};
};

/// First come, first served.
class ticket_lock {
 public:
  static constexpr const char* name = "ticket_lock";
  class guard {
   public:
    explicit guard(ticket_lock& l) : lock_(l), mine_(l.next_.fetch_add(1, std::memory_order_relaxed)) {
      for (backoff wait; lock_.serving_.load(std::memory_order_acquire) != mine_;) wait();
    }
    ~guard() { lock_.serving_.store(mine_ + 1, std::memory_order_release); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    ticket_lock& lock_;
    const std::uint32_t mine_;
  };

 private:
  alignas(64) std::atomic<std::uint32_t> next_{0};
  alignas(64) std::atomic<std::uint32_t> serving_{0};
};

/// Mellor-Crummey and Scott's queue lock: each waiter polls a word of its own.
class mcs_lock {
 public:
  static constexpr const char* name = "mcs_lock";
  class guard {
   public:
    explicit guard(mcs_lock& l) : lock_(l) {
      guard* const before = lock_.tail_.exchange(this, std::memory_order_acq_rel);
      if (before == nullptr) return;
      before->next_.store(this, std::memory_order_release);
      for (backoff wait; blocked_.load(std::memory_order_acquire);) wait();
    }
    ~guard() {
      guard* next = next_.load(std::memory_order_acquire);
      if (next == nullptr) {
        guard* self = this;
        if (lock_.tail_.compare_exchange_strong(self, nullptr, std::memory_order_release, std::memory_order_relaxed))
          return;
        for (backoff wait; (next = next_.load(std::memory_order_acquire)) == nullptr;) wait();
      }
      next->blocked_.store(false, std::memory_order_release);
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    mcs_lock& lock_;
    std::atomic<guard*> next_{nullptr};
    std::atomic<bool> blocked_{true};
  };

 private:
  std::atomic<guard*> tail_{nullptr};
};

class std_mutex {
 public:
  static constexpr const char* name = "std_mutex";
  class guard {
   public:
    explicit guard(std_mutex& l) : lock_(l.mutex_) {}

   private:
    std::lock_guard<std::mutex> lock_;
  };

 private:
  std::mutex mutex_;
};

}  // namespace bench::baselines

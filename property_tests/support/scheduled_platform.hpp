// SPDX-License-Identifier: BSL-1.0
// The platform on which the library's headers run under the deterministic scheduler; outside of it, in tests with one
// thread, accesses are plain and every fruitless poll calls `idle`, which lets the device work or time go by.
#pragma once

#include <cmdq/platform/concepts.hpp>
#include <cstdint>
#include <functional>

#include "scheduler.hpp"

namespace cmdq::test {

struct scheduled_platform {
  /// Short rounds: a case should reach its deadline and its device looks within few steps.
  static constexpr unsigned rounds_per_clock_check = 2;
  static constexpr std::uint64_t look_period_ns = 2'000;

  /// Called by pause() outside of a scheduler; moves `alone_ns` on where it has to.
  static inline std::function<void()> idle;
  static inline std::uint64_t alone_ns = 0;

  /// The CPU of the test's one thread outside of a scheduler.
  static inline std::uint32_t alone_cpu = 0;

  /// A thread's CPU is its number, until it moves.
  static std::uint32_t index() {
    const scheduler* s = scheduler::current();
    return s != nullptr ? s->cpu() : alone_cpu;
  }
  static void move_to(std::uint32_t cpu) {
    if (scheduler* s = scheduler::current())
      s->move_to(cpu);
    else
      alone_cpu = cpu;
  }

  /// While true, accesses are no scheduling points: a test looks at the state between two of them.
  static inline bool peeking = false;

  /// `narrow`: see scheduler::point().
  static void access(bool narrow = false) {
    if (scheduler* s = peeking ? nullptr : scheduler::current()) s->point(narrow);
  }
  static void changed() noexcept {
    if (scheduler* s = scheduler::current()) s->stored();
  }

  template <class T>
  class atomic {
   public:
    constexpr atomic() noexcept = default;
    constexpr explicit atomic(T v) noexcept : v_(v) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    template <class S>
    T load(S) const {
      access(S::id == site::group_turn);  // a list joins its group between the leader's and the end of their claim
      return v_;
    }
    template <class S>
    void store(T v, S) {
      access();
      v_ = v;
      changed();
    }
    template <class S>
    T exchange(T v, S) {
      return update([v](T) { return v; });
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S) {
      access();
      if (v_ != expected) {
        expected = v_;
        return false;
      }
      v_ = v;
      if (scheduler* s = scheduler::current()) s->updated();
      return true;
    }
    template <class S>
    T fetch_add(T v, S) {
      return update([v](T old) { return static_cast<T>(old + v); });
    }
    template <class S>
    T fetch_and(T v, S) {
      return update([v](T old) { return static_cast<T>(old & v); });
    }
    template <class S>
    T fetch_or(T v, S) {
      return update([v](T old) { return static_cast<T>(old | v); });
    }
    template <class S>
    T fetch_xor(T v, S) {
      return update([v](T old) { return static_cast<T>(old ^ v); });
    }

   private:
    template <class F>
    T update(F f) {
      access();
      const T old = v_;
      v_ = f(old);
      if (scheduler* s = scheduler::current()) s->updated();
      return old;
    }
    T v_{};
  };

  /// A scheduling point too, so that an entry can be seen half written.
  template <class T>
  class plain {
   public:
    [[nodiscard]] T get() const {
      access();
      return v_;
    }
    void set(T v) {
      access();
      v_ = v;
    }

   private:
    T v_{};
  };

  struct critical_section {};
  static void pause(const void*, unsigned) {
    if (scheduler* s = scheduler::current()) {
      s->wait();
    } else if (idle) {
      idle();
    }
  }
  static void yield() { pause(nullptr, 0); }
  static std::uint64_t now_ns() {
    const scheduler* s = scheduler::current();
    return s != nullptr ? s->now_ns() : alone_ns;
  }
  template <class S>
  static void fence(S) {
    access();
  }

  // What wait::park needs.
  static void sleep_ns(std::uint64_t ns) {
    if (scheduler* s = scheduler::current()) {
      s->wait_until(s->now_ns() + ns);
    } else if (idle) {
      idle();
    }
  }
  class mutex {
   public:
    void lock() {
      for (;;) {
        access();
        if (!held_) break;
        pause(nullptr, 0);
      }
      held_ = true;
    }
    void unlock() {
      held_ = false;
      changed();
    }

   private:
    bool held_ = false;
  };
  class unique_lock {
   public:
    explicit unique_lock(mutex& m) : mutex_(m) { mutex_.lock(); }
    ~unique_lock() { mutex_.unlock(); }
    unique_lock(const unique_lock&) = delete;
    unique_lock& operator=(const unique_lock&) = delete;
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

   private:
    mutex& mutex_;
  };
  /// No spurious wake-ups: a lost one is a hang, which the step limit finds.
  class condition {
   public:
    void wait_until(unique_lock& lock, std::uint64_t end_ns) {
      const std::uint64_t before = generation_;
      lock.unlock();
      while (generation_ == before && now_ns() < end_ns) {
        if (scheduler* s = scheduler::current())
          s->wait_until(end_ns);
        else
          pause(nullptr, 0);
      }
      lock.lock();
    }
    void notify_all() {
      ++generation_;
      changed();
    }

   private:
    std::uint64_t generation_ = 0;
  };
};

static_assert(sleeping_platform<scheduled_platform> && placed_platform<scheduled_platform>);

}  // namespace cmdq::test

// SPDX-License-Identifier: BSL-1.0
// The platform on which the explorer runs the shipped headers. Atomic accesses are its events; plain data is checked
// for races; a wait blocks until what it saw has changed. Outside of an exploration's threads all of it is plain.
#pragma once

#include "../support/orders.hpp"
#include "explorer.hpp"

#include <cmdq/platform/concepts.hpp>
#include <cmdq/wait/spin.hpp>

namespace cmdq::checks {

/// Words in memory that shipped code was given need no help here.
struct arena_words {
  arena_words(void*, std::size_t) {}
  template <class Word>
  static void note(Word*, bool) {}
};

struct explored_platform {
  static constexpr bool threads_must_end = false;
  static constexpr unsigned rounds_per_clock_check = 1;
  /// Dearer looks write, which others see: they come when time goes on, since without it nobody polls so often.
  static constexpr unsigned polls_per_device_look = 8;

  template <class T>
  class atomic {
   public:
    atomic() : atomic(T{}) {}
    explicit atomic(T v) : v_(v) {
      if (exhaust::explorer::running() == nullptr) id_ = exhaust::explorer::new_word();
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    template <site S>
    T load(at_site<S>) const noexcept {
      before(exhaust::access::load, S);
      const T v = v_;
      did(false, v);
      if (broken(S, fault::ones)) return static_cast<T>(~T{});
      return broken(S, fault::zeroed) ? T{} : v;
    }
    template <site S>
    void store(T v, at_site<S>) noexcept {
      if (broken(S, fault::skipped)) return;
      before(exhaust::access::store, S);
      v_ = v;
      did(true, v);
    }
    template <site S>
    T exchange(T v, at_site<S>) noexcept {
      return modify(S, [v](T) { return v; });
    }
    template <site S>
    bool compare_exchange(T& expected, T v, at_site<S>) noexcept {
      if (broken(S, fault::skipped)) return true;
      if (broken(S, fault::lost_update)) {
        const T seen = plain_load(S);
        if (seen != expected) return expected = seen, false;
        return plain_store(v, S), true;
      }
      if (broken(S, fault::ahead)) v = static_cast<T>(v + 1);
      before(exhaust::access::modify, S);
      const bool done = v_ == expected;
      if (done) {
        v_ = v;
      } else {
        expected = v_;
      }
      did(done, v_);
      return done;
    }
    template <site S>
    T fetch_add(T v, at_site<S>) noexcept {
      return modify(S, [v](T old) {
        const T sum = static_cast<T>(old + v);
        return broken(S, fault::carry) && sum < old ? static_cast<T>(sum + 1) : sum;
      });
    }
    template <site S>
    T fetch_and(T v, at_site<S>) noexcept {
      return modify(S, [v](T old) {
        if (broken(S, fault::kept)) return old;
        return broken(S, fault::zeroed) ? T{} : static_cast<T>(old & v);
      });
    }
    template <site S>
    T fetch_or(T v, at_site<S>) noexcept {
      return modify(S, [v](T old) { return static_cast<T>(old | v); });
    }
    template <site S>
    T fetch_xor(T v, at_site<S>) noexcept {
      return modify(S, [v](T old) { return static_cast<T>(old ^ v); });
    }

   private:
    void before(exhaust::access kind, site s) const {
      if (exhaust::explorer* e = exhaust::explorer::running()) e->before(kind, {id_, sizeof(T), this, &v_}, name(s));
    }
    void did(bool wrote, T value) const {
      if (exhaust::explorer* e = exhaust::explorer::running()) e->did(wrote, static_cast<std::uint64_t>(value));
    }
    T plain_load(site s) const {
      before(exhaust::access::load, s);
      const T v = v_;
      did(false, v);
      return v;
    }
    void plain_store(T v, site s) {
      before(exhaust::access::store, s);
      v_ = v;
      did(true, v);
    }
    /// A read-modify-write, left out or torn into a load and a store where this site is broken so.
    template <class Change>
    T modify(site s, const Change& change) {
      if (broken(s, fault::skipped)) return plain_load(s);
      if (broken(s, fault::lost_update)) {
        const T old = plain_load(s);
        plain_store(change(old), s);
        return old;
      }
      before(exhaust::access::modify, s);
      const T old = v_;
      v_ = change(old);
      did(true, v_);
      return old;
    }
    T v_;
    std::uint32_t id_ = 0;
  };

  template <class T>
  class plain {
   public:
    plain() : plain(T{}) {}
    explicit plain(T v) : v_(v) {}
    [[nodiscard]] T get() const noexcept {
      if (exhaust::explorer* e = exhaust::explorer::running()) e->plain_access(seen_, false);
      return v_;
    }
    void set(T v) noexcept {
      if (exhaust::explorer* e = exhaust::explorer::running()) e->plain_access(seen_, true);
      v_ = v;
    }

   private:
    T v_;
    mutable exhaust::plain_state seen_;
  };

  class mutex {
   public:
    void lock() {
      for (std::uint32_t free = 0; !held_.compare_exchange(free, 1, at<site::setup>); free = 0) pause_for(&held_);
    }
    void unlock() { held_.store(0, at<site::setup>); }

   private:
    atomic<std::uint32_t> held_;
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
  /// No spurious wake-ups: a lost one is a deadlock.
  class condition {
   public:
    void wait_until(unique_lock& lock, std::uint64_t end_ns) {
      const std::uint32_t before = woken_.load(at<site::setup>);
      lock.unlock();
      while (woken_.load(at<site::setup>) == before && now_ns() < end_ns) pause_for(&woken_);
      lock.lock();
    }
    void notify_all() noexcept { woken_.fetch_add(1, at<site::setup>); }

   private:
    atomic<std::uint32_t> woken_;
  };

  struct critical_section {};
  static void pause(const void* line, unsigned) noexcept {
    if (exhaust::explorer* e = exhaust::explorer::running()) e->pause(line, false);
  }
  /// The same where `line` alone is waited for.
  static void pause_for(const void* line) noexcept {
    if (exhaust::explorer* e = exhaust::explorer::running()) e->pause(line, true);
  }
  static void sleep_ns(std::uint64_t) noexcept { pause(nullptr, 0); }
  static void yield() noexcept {}
  /// Stands still unless the explorer lets time pass.
  static std::uint64_t now_ns() noexcept {
    const exhaust::explorer* e = exhaust::explorer::running();
    return e != nullptr ? e->now_ns() : 1;
  }
  template <site S>
  static void fence(at_site<S>) noexcept {}  // sequentially consistent anyway
  static std::uint32_t index() noexcept {
    const exhaust::explorer* e = exhaust::explorer::running();
    return e != nullptr ? e->self() : 0;
  }
};

/// Busy waiting that says which waits are for one word alone.
struct explored_wait : wait::spin {
  template <class Platform>
  struct waiter : wait::spin::waiter<Platform> {
    template <class Blocked>
    void idle(channel<Platform>&, const void* line, const Blocked&, time_budget<Platform>&) noexcept {
      ++this->n_;
      Platform::pause_for(line);
    }
  };
};

static_assert(sleeping_platform<explored_platform> && placed_platform<explored_platform>);

}  // namespace cmdq::checks

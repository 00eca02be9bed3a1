// SPDX-License-Identifier: BSL-1.0
// The platform on which Relacy explores the shipped headers. Every access is a scheduling point that carries the name
// of its ordering site; plain data is checked for races; every wait yields to the scheduler.
#pragma once

#include "orders.hpp"
#include "relacy.hpp"

#include <cmdq/platform/concepts.hpp>

namespace cmdq::checks {

/// The memory order that an access of this kind takes at site `s`: a load cannot release, a store cannot acquire.
enum class access { load, store, modify };
template <access A>
rl::memory_order relacy_order(site s) {
  const order o = order_now(s);
  if (o == order::seq_cst) return rl::mo_seq_cst;
  const bool acquires = A != access::store && (o == order::acquire || o == order::acq_rel);
  const bool releases = A != access::load && (o == order::release || o == order::acq_rel);
  if (acquires && releases) return rl::mo_acq_rel;
  if (acquires) return rl::mo_acquire;
  return releases ? rl::mo_release : rl::mo_relaxed;
}

/// What a history line says: the site's name.
inline rl::debug_info where(const char* name) { return {name, "", 0}; }

/// Time passes for a thread only while it waits: one nanosecond for each fruitless poll. A deadline of K is therefore
/// "after K polls", which keeps every search finite. Starts at 1: a constant 0 would mean "no clock".
struct virtual_clock {
  static constexpr unsigned max_threads = 8;
  static inline std::uint64_t now[max_threads] = {};
  static void restart() {
    for (std::uint64_t& t : now) t = 1;
  }
  static std::uint64_t& mine() { return now[rl::thread_index() % max_threads]; }
};

struct relacy_platform {
  static constexpr unsigned rounds_per_clock_check = 1;
  static constexpr unsigned polls_per_device_look = 2;

  template <class T>
  class atomic {
   public:
    atomic() : v_(T{}) {}
    explicit atomic(T v) : v_(v) {}
    template <site S>
    T load(at_site<S>) const noexcept {
      return v_.load(relacy_order<access::load>(S), where(name(S)));
    }
    template <site S>
    void store(T v, at_site<S>) noexcept {
      v_.store(v, relacy_order<access::store>(S), where(name(S)));
    }
    template <site S>
    T exchange(T v, at_site<S>) noexcept {
      return v_.exchange(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    bool compare_exchange(T& expected, T v, at_site<S>) noexcept {
      return v_.compare_exchange(rl::bool_t<false>(), expected, v, relacy_order<access::modify>(S), rl::mo_relaxed,
                                 where(name(S)));
    }
    template <site S>
    T fetch_add(T v, at_site<S>) noexcept {
      return v_.fetch_add(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    T fetch_and(T v, at_site<S>) noexcept {
      return v_.fetch_and(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    T fetch_or(T v, at_site<S>) noexcept {
      return v_.fetch_or(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    T fetch_xor(T v, at_site<S>) noexcept {
      return v_.fetch_xor(v, relacy_order<access::modify>(S), where(name(S)));
    }
    /// For participants that are not the library (the device): an order of their own and a name for the history.
    rl::atomic<T>& raw() noexcept { return v_; }

   private:
    rl::atomic<T> v_;
  };

  template <class T>
  class plain {
   public:
    plain() : v_(T{}) {}
    [[nodiscard]] T get() const noexcept { return v_(where("plain data")).load(); }
    void set(T v) noexcept { v_(where("plain data")).store(v); }

   private:
    rl::var<T> v_;
  };

  class mutex {
   public:
    void lock() { m_.lock(where("mutex")); }
    void unlock() { m_.unlock(where("mutex")); }

   private:
    friend struct relacy_platform;
    rl::mutex m_;
  };

  class unique_lock {
   public:
    explicit unique_lock(mutex& m) : m_(&m), held_(true) { m.lock(); }
    ~unique_lock() {
      if (held_) m_->unlock();
    }
    unique_lock(const unique_lock&) = delete;
    unique_lock& operator=(const unique_lock&) = delete;
    void lock() {
      m_->lock();
      held_ = true;
    }
    void unlock() {
      m_->unlock();
      held_ = false;
    }

   private:
    friend struct relacy_platform;
    mutex* m_;
    bool held_;
  };

  /// Without a deadline nothing but a notification ends the wait (no spurious wake-ups), so that a lost wake-up is a
  /// deadlock. With one, the scheduler may let it end at any time, and the clock then stands at the deadline.
  class condition {
   public:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    condition() { cv_.init(false, where("condition")); }
    ~condition() { cv_.deinit(where("condition")); }
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;
    void wait_until(unique_lock& lock, std::uint64_t end_ns) {
      const bool timed = end_ns != never;
      const rl::sema_wakeup_reason why = cv_.wait(lock.m_->m_, timed, where(timed ? "park until deadline" : "park"));
      std::uint64_t& now = virtual_clock::mine();
      if (why == rl::sema_wakeup_reason_timeout && now < end_ns) now = end_ns;
    }
    void notify_all() noexcept { cv_.notify_all(where("wake")); }

   private:
    struct tag;
    rl::condvar<tag> cv_;
  };

  struct critical_section {};

  static void pause(const void*, unsigned) noexcept {
    ++virtual_clock::mine();
    rl::yield(1, where("pause"));
  }
  static void yield() noexcept { rl::yield(1, where("yield")); }
  static void sleep_ns(std::uint64_t ns) noexcept {
    virtual_clock::mine() += ns;
    rl::yield(1, where("sleep"));
  }
  static std::uint64_t now_ns() noexcept { return virtual_clock::mine(); }
  template <site S>
  static void fence(at_site<S>) noexcept {
    const order o = order_now(S);
    const rl::memory_order order_of_fence = o == order::seq_cst   ? rl::mo_seq_cst
                                            : o == order::acq_rel ? rl::mo_acq_rel
                                            : o == order::acquire ? rl::mo_acquire
                                                                  : rl::mo_release;
    if (o != order::relaxed) rl::atomic_thread_fence(order_of_fence, where(name(S)));
  }
  static unsigned index() noexcept { return rl::thread_index(); }
};

static_assert(sleeping_platform<relacy_platform>);

}  // namespace cmdq::checks

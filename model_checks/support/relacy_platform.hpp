// SPDX-License-Identifier: BSL-1.0
// The platform on which Relacy explores the shipped headers. Every access is a scheduling point that carries the name
// of its ordering site; plain data is checked for races; every wait yields to the scheduler.
#pragma once

#include "orders.hpp"
#include "relacy.hpp"

#include <cmdq/platform/concepts.hpp>

namespace cmdq::checks {

/// What a history line says: the site's name.
inline rl::debug_info where(const char* name) { return {name, "", 0}; }

/// A thread that stops before one of its accesses, for as long as the scenario says: a CPU whose thread is off it.
struct stopped_thread {
  static constexpr unsigned none = ~0U;
  static inline unsigned thread = none;
  static inline unsigned accesses = 0;  ///< that it still makes before it stops
  static inline bool goes_on = false;
  static void pass() {
    if (thread == none || rl::thread_index() != thread || accesses-- != 0) return;
    while (!goes_on) rl::yield(1, where("stopped"));
  }
};

/// The memory order that an access of this kind takes at site `s`: a load cannot release, a store cannot acquire.
enum class access { load, store, modify };
template <access A>
rl::memory_order relacy_order(site s) {
  stopped_thread::pass();
  const order o = order_now(s);
  if (o == order::seq_cst) return rl::mo_seq_cst;
  const bool acquires = A != access::store && (o == order::acquire || o == order::acq_rel);
  const bool releases = A != access::load && (o == order::release || o == order::acq_rel);
  if (acquires && releases) return rl::mo_acq_rel;
  if (acquires) return rl::mo_acquire;
  return releases ? rl::mo_release : rl::mo_relaxed;
}

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

/// Words that shipped code builds in memory it was given and never destroys (dma::arena). Relacy calls an atomic that
/// outlives its execution a leak, so the scenario that gives the memory destroys them.
class arena_words {
 public:
  arena_words(void* memory, std::size_t bytes) {
    low_ = static_cast<char*>(memory);
    high_ = low_ + bytes;
    count_ = 0;
  }
  ~arena_words() {
    low_ = high_ = nullptr;
    while (count_ > 0) {
      --count_;
      words_[count_].destroy(words_[count_].at);
    }
  }
  arena_words(const arena_words&) = delete;
  arena_words& operator=(const arena_words&) = delete;

  /// `derived`: replaces what its base class has noted.
  template <class Word>
  static void note(Word* at, bool derived = false) {
    const char* const c = reinterpret_cast<const char*>(at);
    if (c < low_ || c >= high_) return;
    if (derived) --count_;
    words_[count_++] = {at, [](void* w) { static_cast<Word*>(w)->~Word(); }};
  }

 private:
  struct word {
    void* at;
    void (*destroy)(void*);
  };
  static constexpr unsigned most = 4096;
  static inline word words_[most];
  static inline unsigned count_ = 0;
  static inline const char* low_ = nullptr;
  static inline const char* high_ = nullptr;
};

struct relacy_platform {
  static constexpr bool threads_must_end = true;
  static constexpr unsigned rounds_per_clock_check = 1;
  static constexpr std::uint64_t look_period_ns = 2;

  template <class T>
  class atomic {
   public:
    atomic() : atomic(T{}) {}
    explicit atomic(T v) : v_(v) { arena_words::note(this); }
    template <site S>
    T load(at_site<S>) const noexcept {
      const T v = v_.load(relacy_order<access::load>(S), where(name(S)));
      if (broken(S, fault::ones)) return static_cast<T>(~T{});
      return broken(S, fault::zeroed) ? T{} : v;
    }
    template <site S>
    void store(T v, at_site<S>) noexcept {
      if (!broken(S, fault::skipped)) v_.store(v, relacy_order<access::store>(S), where(name(S)));
    }
    template <site S>
    T exchange(T v, at_site<S>) noexcept {
      if (any_broken(S)) return badly(S, [v](T) { return v; });
      return v_.exchange(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    bool compare_exchange(T& expected, T v, at_site<S>) noexcept {
      if (broken(S, fault::skipped)) return true;
      if (broken(S, fault::lost_update)) {
        const T seen = v_.load(relacy_order<access::load>(S), where(name(S)));
        if (seen == expected) v_.store(v, relacy_order<access::store>(S), where(name(S)));
        return seen == expected ? true : (expected = seen, false);
      }
      if (broken(S, fault::ahead)) v = static_cast<T>(v + 1);
      return v_.compare_exchange(rl::bool_t<false>(), expected, v, relacy_order<access::modify>(S), rl::mo_relaxed,
                                 where(name(S)));
    }
    template <site S>
    T fetch_add(T v, at_site<S>) noexcept {
      if (any_broken(S))
        return badly(S, [this, v](T old) { return broken(S, fault::carry) ? carry(old, v) : old + v; });
      return v_.fetch_add(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    T fetch_and(T v, at_site<S>) noexcept {
      if (broken(S, fault::kept)) v = static_cast<T>(~T{});
      if (any_broken(S)) return badly(S, [v](T old) { return broken(S, fault::zeroed) ? T{} : old & v; });
      return v_.fetch_and(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    T fetch_or(T v, at_site<S>) noexcept {
      if (any_broken(S)) return badly(S, [v](T old) { return old | v; });
      return v_.fetch_or(v, relacy_order<access::modify>(S), where(name(S)));
    }
    template <site S>
    T fetch_xor(T v, at_site<S>) noexcept {
      if (any_broken(S)) return badly(S, [v](T old) { return old ^ v; });
      return v_.fetch_xor(v, relacy_order<access::modify>(S), where(name(S)));
    }

   private:
    /// A read-modify-write with the fault of this process: left out, torn into a load and a store, or with a wrong
    /// result.
    template <class Change>
    T badly(site s, const Change& change) {
      T old = v_.load(rl::mo_acquire, where(name(s)));
      if (broken(s, fault::skipped)) return old;
      if (broken(s, fault::lost_update)) {
        v_.store(static_cast<T>(change(old)), rl::mo_release, where(name(s)));
        return old;
      }
      while (!v_.compare_exchange(rl::bool_t<false>(), old, static_cast<T>(change(old)), rl::mo_acq_rel, rl::mo_relaxed,
                                  where(name(s)))) {
      }
      return old;
    }
    /// Addition where the position's carry does not fall off but comes in again at the bottom.
    static T carry(T old, T v) {
      const T sum = static_cast<T>(old + v);
      return sum < old ? static_cast<T>(sum + 1) : sum;
    }
    rl::atomic<T> v_;
  };

  template <class T>
  class plain {
   public:
    plain() : plain(T{}) {}
    explicit plain(T v) : v_(v) {}
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
    if (broken(S, fault::skipped)) return;
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

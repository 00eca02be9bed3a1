// SPDX-License-Identifier: BSL-1.0
// The platform on which the library's headers run inside the simulated machine. Outside of machine::run() (while
// objects are set up or looked at) accesses cost nothing. Memory orders cost nothing either: what they are needed for
// is the model checks' business.
#pragma once

#include <cmdq/platform/concepts.hpp>
#include <cstdint>

#include "machine.hpp"

namespace cmdq::manycore {

struct platform {
  /// A poller of a line looks again after this long even if nobody wrote, so that deadlines are noticed.
  static constexpr picoseconds longest_sleep = 50'000'000;
  /// Between two reads of a device register.
  static constexpr picoseconds register_gap = 10'000;
  static constexpr picoseconds fence_time = 5'000;
  static constexpr picoseconds yield_time = 500'000;

  template <class T>
  class atomic {
   public:
    constexpr atomic() noexcept = default;
    constexpr explicit atomic(T v) noexcept : v_(v) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    template <class S>
    T load(S) const noexcept {
      if (machine* m = machine::running()) m->touch(&v_, access::read, number<S>);
      return v_;
    }
    template <class S>
    void store(T v, S s) noexcept {
      update(s, [v](T) { return v; });
    }
    template <class S>
    T exchange(T v, S s) noexcept {
      return update(s, [v](T) { return v; });
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S) noexcept {
      machine* m = machine::running();
      if (m != nullptr) m->touch(&v_, access::write, number<S>);
      if (v_ != expected) {
        expected = v_;
        if (m != nullptr) m->compare_failed(&v_, number<S>);
        return false;
      }
      v_ = v;
      if (m != nullptr) m->written(&v_);
      return true;
    }
    template <class S>
    T fetch_add(T v, S s) noexcept {
      return update(s, [v](T old) { return static_cast<T>(old + v); });
    }
    template <class S>
    T fetch_and(T v, S s) noexcept {
      return update(s, [v](T old) { return static_cast<T>(old & v); });
    }
    template <class S>
    T fetch_or(T v, S s) noexcept {
      return update(s, [v](T old) { return static_cast<T>(old | v); });
    }
    template <class S>
    T fetch_xor(T v, S s) noexcept {
      return update(s, [v](T old) { return static_cast<T>(old ^ v); });
    }

   private:
    template <class S>
    static constexpr unsigned number = static_cast<unsigned>(S::id);

    template <class S, class F>
    T update(S, F f) noexcept {
      machine* m = machine::running();
      if (m != nullptr) m->touch(&v_, access::write, number<S>);
      const T old = v_;
      v_ = f(old);
      if (m != nullptr) m->written(&v_);
      return old;
    }

    T v_{};
  };

  /// Costs what its line costs; nobody sleeps on plain data, but a write to its line wakes who sleeps on a neighbour.
  template <class T>
  class plain {
   public:
    [[nodiscard]] T get() const noexcept {
      if (machine* m = machine::running()) m->touch(&v_, access::read, plain_data);
      return v_;
    }
    void set(T v) noexcept {
      machine* m = machine::running();
      if (m != nullptr) m->touch(&v_, access::write, plain_data);
      v_ = v;
      if (m != nullptr) m->written(&v_);
    }

   private:
    T v_{};
  };

  struct critical_section {};

  /// Sleeps until the line changes (at most longest_sleep); between two polls of a register, waits register_gap.
  static void pause(const void* polled, unsigned /*round*/) noexcept {
    machine* m = machine::running();
    if (m == nullptr) return;
    if (polled == nullptr)
      m->spend(register_gap, cons_read);
    else
      m->sleep_on(polled, longest_sleep);
  }
  static void yield() noexcept {
    if (machine* m = machine::running()) m->spend(yield_time, other_work);
  }
  static std::uint64_t now_ns() noexcept {
    const machine* m = machine::running();
    return m == nullptr ? 0 : m->now() / 1000;
  }
  template <class S>
  static void fence(S) noexcept {
    if (machine* m = machine::running()) m->spend(fence_time, static_cast<unsigned>(S::id));
  }
  /// CPUs are numbered cluster by cluster, die by die.
  static std::uint32_t index() noexcept {
    const machine* m = machine::running();
    return m == nullptr ? 0 : m->self();
  }
};

static_assert(platform_type<platform> && placed_platform<platform>);

}  // namespace cmdq::manycore

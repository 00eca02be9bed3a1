// SPDX-License-Identifier: BSL-1.0
// The platform on which the library's headers run inside the simulated machine. Outside of machine::run() (while
// objects are set up or looked at) accesses cost nothing. Memory orders cost nothing either: what they are needed for
// is the model checks' business.
#pragma once

#include <algorithm>
#include <cmdq/platform/concepts.hpp>
#include <cstdint>

#include "machine.hpp"

namespace cmdq::manycore {

struct platform {
  /// Between two reads of a device register, where a poll takes no longer.
  static constexpr picoseconds register_gap = 10'000;
  /// A pause ends with the line's change, so polls that see nothing can be taken together: as many as lie between two
  /// looks at the clock elsewhere. In return each pause is followed by a look.
  static constexpr unsigned polls_per_pause = 16;
  static constexpr unsigned rounds_per_clock_check = 1;
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
    void store(T v, S) noexcept {
      machine* m = machine::running();
      if (m != nullptr) {
        if (S::required != order::relaxed) m->drain(number<S>);
        m->touch_store(&v_, number<S>);
      }
      v_ = v;
      if (m != nullptr) m->written(&v_);
    }
    template <class S>
    T exchange(T v, S s) noexcept {
      return update(s, [v](T) { return v; });
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S) noexcept {
      machine* m = machine::running();
      if (m != nullptr) m->modify(&v_, number<S>);
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
      if (m != nullptr) m->modify(&v_, number<S>);
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
      if (m != nullptr) m->touch_store(&v_, plain_data);
      v_ = v;
      if (m != nullptr) m->written(&v_);
    }

   private:
    T v_{};
  };

  struct critical_section {};

  /// The time of polls_per_pause polls, or less when the line changes before; between two polls of a register at least
  /// register_gap.
  static void pause(const void* polled, unsigned /*round*/) noexcept {
    machine* m = machine::running();
    if (m == nullptr) return;
    if (polled == nullptr)
      m->spend(std::max(register_gap, m->shape().poll), cons_read);
    else
      m->poll(polled, polls_per_pause);
  }
  /// Optional member of a platform: the wait under way will do nothing but poll before `ns` in now_ns() time.
  static void quiet_until(std::uint64_t ns) noexcept {
    if (machine* m = machine::running()) m->quiet_until(ns * 1000);
  }
  static void yield() noexcept {
    if (machine* m = machine::running()) m->spend(yield_time, other_work);
  }
  static std::uint64_t now_ns() noexcept {
    machine* m = machine::running();
    if (m == nullptr) return 0;
    m->spend(m->shape().clock, clock_read);
    return m->now() / 1000;
  }
  template <class S>
  static void fence(S) noexcept {
    machine* m = machine::running();
    if (m == nullptr) return;
    m->drain(static_cast<unsigned>(S::id));
    m->spend(fence_time, static_cast<unsigned>(S::id));
  }
  /// How many there are, for groups that are chosen by themselves. Not before the machine runs.
  static std::uint32_t cpus() noexcept {
    const machine* m = machine::running();
    return m == nullptr ? 0 : m->cpus();
  }
  /// CPUs are numbered cluster by cluster, die by die.
  static std::uint32_t index() noexcept {
    const machine* m = machine::running();
    return m == nullptr ? 0 : m->self();
  }
};

static_assert(platform_type<platform> && counted_platform<platform>);

}  // namespace cmdq::manycore

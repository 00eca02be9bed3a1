// SPDX-License-Identifier: BSL-1.0
// Freestanding platform: compiler builtins only, no library at all. The clock and the pause come from `Hooks`, which a
// bare-metal user replaces; the default has no clock, so deadlines never end with it.
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq::platform {

namespace detail {
constexpr int builtin_order(order o) noexcept {
  switch (o) {
    case order::relaxed:
      return __ATOMIC_RELAXED;
    case order::acquire:
      return __ATOMIC_ACQUIRE;
    case order::release:
      return __ATOMIC_RELEASE;
    case order::acq_rel:
      return __ATOMIC_ACQ_REL;
    default:
      return __ATOMIC_SEQ_CST;
  }
}
template <class S>
inline constexpr int builtin_order_of = builtin_order(S::required);
/// g++ for RISC-V takes the fence before LR from the order of a compare-exchange that fails (GCC bug 89835): with a
/// relaxed one a release is none. There one that releases is the strongest in both cases.
#if defined(__riscv) && !defined(__clang__)
inline constexpr bool failure_fences = true;
#else
inline constexpr bool failure_fences = false;
#endif
template <class S>
inline constexpr bool strongest = failure_fences&& S::required != order::relaxed&& S::required != order::acquire;
template <class S>
inline constexpr int builtin_success_of = strongest<S> ? __ATOMIC_SEQ_CST : builtin_order_of<S>;
template <class S>
inline constexpr int builtin_failure_of = failure_fences ? builtin_success_of<S> : __ATOMIC_RELAXED;
}  // namespace detail

/// No clock; a pause instruction unless CMDQ_NO_ASM is defined (checkers that read IR want none).
struct default_hooks {
  static uint64_t now_ns() noexcept { return 0; }
  static void pause(const void*, unsigned) noexcept {
#if !defined(CMDQ_NO_ASM)
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7)
    __asm__ __volatile__("yield" ::: "memory");
#elif defined(__riscv)
    __asm__ __volatile__(".insn 0x0100000f" ::: "memory");  // PAUSE of Zihintpause; elsewhere a fence that does nothing
#endif
#endif
  }
  static void yield() noexcept {}
  struct critical_section {};
};

template <class Hooks = default_hooks>
struct builtins_with {
  template <class T>
  class atomic {
    static_assert(__atomic_always_lock_free(sizeof(T), nullptr),
                  "this processor has no atomic of that size without a library, and a library's lock is none between "
                  "CPU, interrupt handler and device; cmdq needs 32 and 64 bits: ARMv7-A or later, not ARMv6 or "
                  "Cortex-M");

   public:
    constexpr atomic() noexcept = default;
    constexpr explicit atomic(T v) noexcept : v_(v) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    template <class S>
    T load(S) const noexcept {
      return __atomic_load_n(&v_, detail::builtin_order_of<S>);
    }
    template <class S>
    void store(T v, S) noexcept {
      __atomic_store_n(&v_, v, detail::builtin_order_of<S>);
    }
    template <class S>
    T exchange(T v, S) noexcept {
      return __atomic_exchange_n(&v_, v, detail::builtin_order_of<S>);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S) noexcept {
      return __atomic_compare_exchange_n(&v_, &expected, v, false, detail::builtin_success_of<S>,
                                         detail::builtin_failure_of<S>);
    }
    template <class S>
    T fetch_add(T v, S) noexcept {
      return __atomic_fetch_add(&v_, v, detail::builtin_order_of<S>);
    }
    template <class S>
    T fetch_and(T v, S) noexcept {
      return __atomic_fetch_and(&v_, v, detail::builtin_order_of<S>);
    }
    template <class S>
    T fetch_or(T v, S) noexcept {
      return __atomic_fetch_or(&v_, v, detail::builtin_order_of<S>);
    }
    template <class S>
    T fetch_xor(T v, S) noexcept {
      return __atomic_fetch_xor(&v_, v, detail::builtin_order_of<S>);
    }

   private:
    T v_{};
  };

  template <class T>
  class plain {
   public:
    [[nodiscard]] T get() const noexcept { return v_; }
    void set(T v) noexcept { v_ = v; }

   private:
    T v_{};
  };

  using critical_section = typename Hooks::critical_section;
  static void pause(const void* line, unsigned round) noexcept { Hooks::pause(line, round); }
  static void yield() noexcept { Hooks::yield(); }
  static uint64_t now_ns() noexcept { return Hooks::now_ns(); }
  template <class S>
  static void fence(S) noexcept {
    __atomic_thread_fence(detail::builtin_order_of<S>);
  }
};

using builtins = builtins_with<>;
static_assert(platform_type<builtins>);

}  // namespace cmdq::platform

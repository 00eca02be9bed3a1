// SPDX-License-Identifier: BSL-1.0
// A platform that gives way at random before its atomic and its device accesses. A single-threaded emulator switches
// CPUs only at YIELD, so this is what makes 128 emulated CPUs interleave between any two steps of the algorithm, and
// the same way each time.
#pragma once

#include "producers.hpp"

namespace producers {

struct restless : bare_metal {
  using base = bare_metal;

  /// Off while one CPU sets things up.
  static inline bool stirring = false;

  /// One access in four lets another CPU run.
  static void stir() noexcept {
    if (!stirring) return;
    static uint32_t seeds[board::max_cpus];
    uint32_t& seed = seeds[index() % board::max_cpus];
    seed = seed * 1664525U + 1013904223U;
    if (seed >> 30 == 0) base::yield();
  }

  template <class T>
  class atomic {
   public:
    constexpr atomic() noexcept = default;
    constexpr explicit atomic(T v) noexcept : cell_(v) {}
    template <class S>
    T load(S s) const noexcept {
      stir();
      return cell_.load(s);
    }
    template <class S>
    void store(T v, S s) noexcept {
      stir();
      cell_.store(v, s);
    }
    template <class S>
    T exchange(T v, S s) noexcept {
      stir();
      return cell_.exchange(v, s);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S s) noexcept {
      stir();
      return cell_.compare_exchange(expected, v, s);
    }
    template <class S>
    T fetch_add(T v, S s) noexcept {
      stir();
      return cell_.fetch_add(v, s);
    }
    template <class S>
    T fetch_and(T v, S s) noexcept {
      stir();
      return cell_.fetch_and(v, s);
    }
    template <class S>
    T fetch_or(T v, S s) noexcept {
      stir();
      return cell_.fetch_or(v, s);
    }
    template <class S>
    T fetch_xor(T v, S s) noexcept {
      stir();
      return cell_.fetch_xor(v, s);
    }

   private:
    base::atomic<T> cell_;
  };
};

static_assert(cmdq::placed_platform<restless>);

/// The same between the algorithm and the device's registers.
struct restless_registers {
  cmdq::platform::mmio64 page;
  constexpr explicit restless_registers(uintptr_t base) noexcept : page{base} {}
  [[nodiscard]] uint32_t read32(uint32_t offset) const noexcept {
    restless::stir();
    return page.read32(offset);
  }
  void write32(uint32_t offset, uint32_t v) const noexcept {
    restless::stir();
    page.write32(offset, v);
  }
  void write64(uint32_t offset, uint64_t v) const noexcept { page.write64(offset, v); }
};

template <>
struct registers_of<restless> {
  using type = restless_registers;
};

}  // namespace producers

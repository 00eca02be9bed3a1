// SPDX-License-Identifier: BSL-1.0
// The platform and the device of codegen.cpp. Accesses to CMDQ_PROD and CMDQ_CONS are marked by a label, which costs
// no instruction and moves nothing that may not move anyway.
#pragma once

#include <cmdq/platform/builtins.hpp>
#include <cmdq/platform/ring_entry.hpp>
#include <cmdq/smmuv3/device.hpp>

#define CMDQ_SEEN extern "C" __attribute__((used, noinline))

namespace cmdq::codegen {

#if CMDQ_BROKEN == 2
struct P : platform::builtins {
  template <class T>
  class atomic : public platform::builtins::atomic<T> {
    using base = platform::builtins::atomic<T>;
    static constexpr at_site<site::setup> weak{};

   public:
    template <class S>
    T load(S) const noexcept {
      return base::load(weak);
    }
    template <class S>
    void store(T v, S) noexcept {
      base::store(v, weak);
    }
    template <class S>
    T exchange(T v, S) noexcept {
      return base::exchange(v, weak);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S) noexcept {
      return base::compare_exchange(expected, v, weak);
    }
    template <class S>
    T fetch_add(T v, S) noexcept {
      return base::fetch_add(v, weak);
    }
    template <class S>
    T fetch_and(T v, S) noexcept {
      return base::fetch_and(v, weak);
    }
    template <class S>
    T fetch_or(T v, S) noexcept {
      return base::fetch_or(v, weak);
    }
    template <class S>
    T fetch_xor(T v, S) noexcept {
      return base::fetch_xor(v, weak);
    }
  };
};
#else
using P = platform::builtins;
#endif

#if CMDQ_BROKEN == 1
struct barriers {
  static void before_write() noexcept {}
  static void after_read() noexcept {}
};
#else
using barriers = platform::io_barriers;
#endif

struct marked : platform::mmio64 {
  [[nodiscard]] uint32_t read32(uint32_t at) const noexcept {
    const uint32_t v = mmio64::read32(at);
    if (at == smmuv3::offset::cmdq_cons) __asm__ __volatile__("cmdq_mark_cons_%=:" ::"r"(v));
    return v;
  }
  void write32(uint32_t at, uint32_t v) const noexcept {
    if (at == smmuv3::offset::cmdq_prod) __asm__ __volatile__("cmdq_mark_prod_%=:" ::"r"(v));
    mmio64::write32(at, v);
  }
};
using device = smmuv3::device<marked, barriers>;

}  // namespace cmdq::codegen

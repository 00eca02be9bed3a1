// SPDX-License-Identifier: BSL-1.0
// What the queue takes for granted of the AArch64 platform, checked on every CPU.
#pragma once

#include "board/board.hpp"
#include "board/crew.hpp"

#include <cmdq/platform/aarch64.hpp>

namespace producers {

/// How many CPUs are not as they should be.
struct platform_faults {
  uint32_t numbers = 0, masks = 0;
};

inline uint64_t interrupt_mask() {
  uint64_t daif;
  __asm__ __volatile__("mrs %0, daif" : "=r"(daif)::"memory");
  return daif & 0xc0U;  // I and F
}

/// Interrupts are masked inside, nested too, and as before afterwards.
inline bool masks_interrupts() {
  __asm__ __volatile__("msr daifclr, #3" ::: "memory");
  bool ok = interrupt_mask() == 0;
  {
    cmdq::platform::aarch64::interrupts_masked outer;
    ok = ok && interrupt_mask() == 0xc0;
    { cmdq::platform::aarch64::interrupts_masked inner; }
    ok = ok && interrupt_mask() == 0xc0;
  }
  ok = ok && interrupt_mask() == 0;
  __asm__ __volatile__("msr daifset, #3" ::: "memory");
  return ok;
}

inline bool check_platform(uint32_t cpus) {
  namespace aarch64 = cmdq::platform::aarch64;
  platform_faults faults;
  board::all_do(
      [](void* context, uint32_t cpu) {
        auto& f = *static_cast<platform_faults*>(context);
        aarch64::enable_event_stream(10);
        const uint64_t start = aarch64::bare_metal::now_ns();  // a clock that stands still never gets past the loop
        aarch64::bare_metal::wait_for_event();
        while (aarch64::bare_metal::now_ns() - start < 20000) aarch64::bare_metal::yield();
        if (aarch64::cpu_number<board::cpus_per_cluster>() != cpu) __atomic_fetch_add(&f.numbers, 1, __ATOMIC_RELAXED);
        if (!masks_interrupts()) __atomic_fetch_add(&f.masks, 1, __ATOMIC_RELAXED);
      },
      &faults, cpus);
  board::print("platform: CPUs with a wrong number ");
  board::print_number(faults.numbers);
  board::print(", interrupt mask ");
  board::print_number(faults.masks);
  board::print("\n");
  return faults.numbers + faults.masks == 0;
}

}  // namespace producers

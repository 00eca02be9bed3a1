// SPDX-License-Identifier: BSL-1.0
// AArch64 on top of the builtins: the generic timer as clock, YIELD between polls (WFE and SEV with wait::wfe),
// interrupts off between claim and publication, the CPU's number from MPIDR.
#pragma once

#if !defined(__aarch64__)
#error "cmdq/platform/aarch64.hpp is for AArch64 compilers"
#endif

#include <cmdq/platform/builtins.hpp>
#include <cmdq/platform/mmio.hpp>

namespace cmdq::platform::aarch64 {

/// Virtual counter (CNTVCT_EL0), in ticks. Behind an ISB, so that it is not read before the branches in front of it are
/// decided: a waiter's time is that of its last fruitless poll or later, never one from before it. What follows is not
/// held back. Cost: a pipeline flush.
inline uint64_t counter() noexcept {
  uint64_t v;
  __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(v)::"memory");
  return v;
}

/// Ticks per second (CNTFRQ_EL0). Set by firmware; 0 where it forgot to.
inline uint64_t counter_hz() noexcept {
  uint64_t v;
  __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(v));
  return v;
}

/// Exact without 128-bit division (that would call libgcc): whole seconds and the rest apart. `hz` up to 18 GHz.
/// 0 when `hz` is 0, which the queue takes as "no clock".
constexpr uint64_t ticks_to_ns(uint64_t ticks, uint64_t hz) noexcept {
  constexpr uint64_t ns_per_second = 1000000000U;
  if (hz == 0) return 0;
  return ticks / hz * ns_per_second + ticks % hz * ns_per_second / hz;
}

/// Affinity fields 3..0 of MPIDR_EL1, packed into 32 bits. EL1.
inline uint32_t affinity() noexcept {
  uint64_t v;
  __asm__ __volatile__("mrs %0, mpidr_el1" : "=r"(v));
  return static_cast<uint32_t>((v & 0xffffffU) | ((v >> 32) & 0xffU) << 24);
}

/// Number of the current CPU where affinity 0 counts CPUs in a cluster and affinity 1 counts clusters. EL1.
/// Machines number differently: check against the firmware tables.
template <uint32_t CpusPerCluster>
inline uint32_t cpu_number() noexcept {
  const uint32_t a = affinity();
  return ((a >> 8) & 0xffU) * CpusPerCluster + (a & 0xffU);
}

/// An event to every WFE of this CPU each time bit `bit` (0..15) of the virtual counter rises, about every 2^(bit+1)
/// ticks. EL1, once per CPU, before wait::wfe is used: it bounds each sleep, so that deadlines are looked at even when
/// nobody sends an event. CNTKCTL_EL1: EVNTEN 2, EVNTI 7:4.
inline void enable_event_stream(unsigned bit) noexcept {
  uint64_t v;
  __asm__ __volatile__("mrs %0, cntkctl_el1" : "=r"(v));
  v = (v & ~uint64_t{0xfcU}) | (uint64_t{1} << 2) | (static_cast<uint64_t>(bit & 15U) << 4);
  __asm__ __volatile__("msr cntkctl_el1, %0\n\tisb" ::"r"(v) : "memory");
}

/// IRQ and FIQ masked while it lives, then as before: it nests. EL1.
class interrupts_masked {
 public:
  interrupts_masked() noexcept { __asm__ __volatile__("mrs %0, daif\n\tmsr daifset, #3" : "=r"(daif_)::"memory"); }
  ~interrupts_masked() { __asm__ __volatile__("msr daif, %0" ::"r"(daif_) : "memory"); }
  interrupts_masked(const interrupts_masked&) = delete;
  interrupts_masked& operator=(const interrupts_masked&) = delete;

 private:
  uint64_t daif_ = 0;
};

/// For user mode, and for EL1 code that is never interrupted by a user of the same queue.
struct interrupts_untouched {};

template <class CriticalSection>
struct hooks {
  using critical_section = CriticalSection;
  static void pause(const void*, unsigned) noexcept { __asm__ __volatile__("yield" ::: "memory"); }
  static void yield() noexcept { __asm__ __volatile__("yield" ::: "memory"); }
  /// Nanoseconds of the generic timer; wraps after 584 years.
  static uint64_t now_ns() noexcept { return ticks_to_ns(counter(), counter_hz()); }
};

template <class CriticalSection>
struct on_builtins : builtins_with<hooks<CriticalSection>> {
  /// For wait::wfe. An event that came since the last WFE ends this one at once, so none is lost.
  static void wait_for_event() noexcept { __asm__ __volatile__("wfe" ::: "memory"); }
  /// After the store that others wait for: the barrier makes it visible before they wake.
  static void signal_event() noexcept { __asm__ __volatile__("dsb ishst\n\tsev" ::: "memory"); }
};

/// Platforms for the queue: at EL1 with interrupts masked from claim to publication, or needing nothing above EL0.
using bare_metal = on_builtins<interrupts_masked>;
using user_mode = on_builtins<interrupts_untouched>;

/// `Base` at EL1 on a machine of `Cpus` CPUs that are numbered as cpu_number() says: with it groups are chosen by
/// themselves (automatic_groups).
template <class Base, uint32_t Cpus, uint32_t CpusPerCluster>
struct placed : Base {
  static uint32_t index() noexcept { return cpu_number<CpusPerCluster>(); }
  static constexpr uint32_t cpus() noexcept { return Cpus; }
};

static_assert(platform_type<bare_metal> && platform_type<user_mode> && counted_platform<placed<bare_metal, 128, 8>>);
static_assert(ticks_to_ns(62500000, 62500000) == 1000000000 && ticks_to_ns(3, 62500000) == 48);

}  // namespace cmdq::platform::aarch64

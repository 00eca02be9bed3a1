/* SPDX-License-Identifier: BSL-1.0 */
/* What the queue asks of its surroundings, on bare AArch64 at EL1: generic timer, YIELD, interrupts masked. */
#include <cmdq/c/cmdq.h>

uint64_t cmdq_port_now_ns(void) {
  uint64_t ticks;
  uint64_t hz;
  __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
  if (hz == 0) return 0;
  return ticks / hz * 1000000000U + ticks % hz * 1000000000U / hz;
}

void cmdq_port_pause(unsigned round) {
  (void)round;
  __asm__ __volatile__("yield" : : : "memory");
}

uintptr_t cmdq_port_enter(void) {
  uintptr_t daif;
  __asm__ __volatile__("mrs %0, daif\n\tmsr daifset, #3" : "=r"(daif) : : "memory");
  return daif;
}

void cmdq_port_leave(uintptr_t before) { __asm__ __volatile__("msr daif, %0" : : "r"(before) : "memory"); }

uint32_t cmdq_port_cpu(void) {
  uint64_t mpidr;
  __asm__ __volatile__("mrs %0, mpidr_el1" : "=r"(mpidr));
  return (uint32_t)((mpidr >> 8 & 0xff) * 16 + (mpidr & 0xff)); /* 16 CPUs to a cluster, on this board */
}

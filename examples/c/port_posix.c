/* SPDX-License-Identifier: BSL-1.0 */
/* What the queue asks of its surroundings, on POSIX. */
#define _POSIX_C_SOURCE 200809L
#include <cmdq/c/cmdq.h>

#include <sched.h>
#include <time.h>

uint64_t cmdq_port_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}
void cmdq_port_pause(unsigned round) {
  if (round >= 64) sched_yield();
}
uintptr_t cmdq_port_enter(void) { return 0; }
void cmdq_port_leave(uintptr_t before) { (void)before; }
uint32_t cmdq_port_cpu(void) { return 0; }

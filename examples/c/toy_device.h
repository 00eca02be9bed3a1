/* SPDX-License-Identifier: BSL-1.0 */
/* A device for programs without one: it consumes the ring inside the register writes, on one machine's addresses. */
#ifndef TOY_DEVICE_H
#define TOY_DEVICE_H

#include <cmdq/c/cmdq.h>

#include <pthread.h>
#include <stdatomic.h>

struct toy_device {
  struct cmdq_command* ring;
  uint32_t log2_size;
  pthread_mutex_t one_at_a_time;
  atomic_uint prod, cons, gerror, gerrorn;
  atomic_bool stands;    /* consumes nothing */
  atomic_ulong executed; /* commands, without CMD_SYNCs */
};

void toy_device_init(struct toy_device* d, struct cmdq_command* ring, uint32_t log2_size);
/* Goes on where it stood. */
void toy_device_resume(struct toy_device* d);
struct cmdq_device toy_device_registers(struct toy_device* d);

#endif

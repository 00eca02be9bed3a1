/* SPDX-License-Identifier: BSL-1.0 */
#include "toy_device.h"

enum { cmd_sync = 0x46, signal_msi = 1, cerror_ill = 1, cmdq_err = 1 };

/* Executes one command; false where it is illegal. An MSI is a 32-bit write to memory. */
static bool execute(struct toy_device* d, const struct cmdq_command* c) {
  const uint64_t w0 = c->word[0];
  if ((w0 & 0xff) == 0) return false;
  if ((w0 & 0xff) != cmd_sync) {
    atomic_fetch_add(&d->executed, 1);
  } else if (((w0 >> 12) & 3) == signal_msi) {
    atomic_uint* const target = (atomic_uint*)(uintptr_t)(c->word[1] & 0xffffffffffffcU);
    atomic_store(target, (unsigned)(w0 >> 32));
  }
  return true;
}

static void consume(struct toy_device* d) {
  pthread_mutex_lock(&d->one_at_a_time);
  const uint32_t index = (1U << d->log2_size) - 1;
  const uint32_t with_wrap = 2 * index + 1;
  uint32_t at = atomic_load(&d->cons) & with_wrap;
  while (!atomic_load(&d->stands) && at != atomic_load(&d->prod) &&
         ((atomic_load(&d->gerror) ^ atomic_load(&d->gerrorn)) & cmdq_err) == 0) {
    if (execute(d, &d->ring[at & index])) {
      at = (at + 1) & with_wrap;
      atomic_store(&d->cons, at);
    } else { /* CONS.ERR, then GERROR: consumption stops until it is acknowledged */
      atomic_store(&d->cons, at | (uint32_t)cerror_ill << 24);
      atomic_fetch_xor(&d->gerror, cmdq_err);
    }
  }
  pthread_mutex_unlock(&d->one_at_a_time);
}

static void write_prod(void* context, uint32_t value) {
  struct toy_device* const d = context;
  atomic_store(&d->prod, value);
  consume(d);
}
static uint32_t read_cons(void* context) { return atomic_load(&((struct toy_device*)context)->cons); }
static uint32_t read_gerror(void* context) { return atomic_load(&((struct toy_device*)context)->gerror); }
static uint32_t read_gerrorn(void* context) { return atomic_load(&((struct toy_device*)context)->gerrorn); }
static void write_gerrorn(void* context, uint32_t value) {
  struct toy_device* const d = context;
  atomic_store(&d->gerrorn, value);
  consume(d);
}

void toy_device_init(struct toy_device* d, struct cmdq_command* ring, uint32_t log2_size) {
  d->ring = ring;
  d->log2_size = log2_size;
  pthread_mutex_init(&d->one_at_a_time, 0);
  atomic_init(&d->prod, 0);
  atomic_init(&d->cons, 0);
  atomic_init(&d->gerror, 0);
  atomic_init(&d->gerrorn, 0);
  atomic_init(&d->stands, false);
  atomic_init(&d->executed, 0);
}

void toy_device_resume(struct toy_device* d) {
  atomic_store(&d->stands, false);
  consume(d);
}

struct cmdq_device toy_device_registers(struct toy_device* d) {
  const struct cmdq_device registers = {d, write_prod, read_cons, read_gerror, read_gerrorn, write_gerrorn};
  return registers;
}

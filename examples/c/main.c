/* SPDX-License-Identifier: BSL-1.0 */
/* Four threads, one queue, each call back when the device has done its command. */
#include "toy_device.h"

#include <stdio.h>
#include <stdlib.h>

enum { log2_size = 10, threads = 4, calls = 1000 };

static struct cmdq_queue* queue;
static atomic_uint done;

static int say(const char* what, struct cmdq_refusal why) {
  fprintf(stderr, "%s: %s, %s is %llu, limit %llu\n", what, cmdq_status_name(why.code), why.field,
          (unsigned long long)why.value, (unsigned long long)why.limit);
  return 2;
}

static void* invalidate(void* asid) {
  struct cmdq_producer me = {{0}}; /* this thread's right to insert */
  if (cmdq_attach(queue, &me) != CMDQ_OK) return NULL;
  struct cmdq_command tlbi;
  const struct cmdq_fields fields = {.op = CMDQ_OP_TLBI_NH_VA, .asid = (uintptr_t)asid, .leaf = 1, .addr = 0x1000};
  if (cmdq_encode(&fields, &tlbi).code == CMDQ_OK)
    for (int i = 0; i < calls; ++i) done += cmdq_issue(&me, &tlbi, 1).done; /* returns once the device has done it */
  cmdq_detach(&me);
  return NULL;
}

int main(void) {
  struct cmdq_options options = cmdq_default_options();
  options.log2_size = log2_size;
  options.batch_limit = 16;
  options.producers = threads;

  const size_t ring_bytes = (size_t)16 << log2_size; /* the device wants it aligned to its size */
  const size_t work_bytes = cmdq_work_bytes(&options);
  struct cmdq_memory memory = {.ring = aligned_alloc(ring_bytes, ring_bytes),
                               .ring_bytes = ring_bytes,
                               .work = aligned_alloc(64, work_bytes),
                               .work_bytes = work_bytes};
  if (memory.ring == NULL || memory.work == NULL) return 2;
  memory.ring_device_address = (uintptr_t)memory.ring;

  static struct toy_device toy; /* or cmdq_smmuv3(registers) after cmdq_smmuv3_bring_up() */
  toy_device_init(&toy, memory.ring, log2_size);
  const struct cmdq_device device = toy_device_registers(&toy);
  const struct cmdq_refusal why = cmdq_init(&queue, &options, &memory, &device);
  if (why.code != CMDQ_OK) return say("cmdq_init", why);

  pthread_t thread[threads];
  for (uintptr_t i = 0; i < threads; ++i)
    if (pthread_create(&thread[i], NULL, invalidate, (void*)i) != 0) return 2;
  for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  printf("%u done, %lu executed\n", (unsigned)done, (unsigned long)toy.executed);
  free(memory.work);
  free(memory.ring);
  return done == threads * calls && toy.executed == threads * calls ? 0 : 1;
}

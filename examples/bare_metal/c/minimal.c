/* SPDX-License-Identifier: BSL-1.0 */
/* The least that a driver in C writes: bring the SMMU up, make the queue, invalidate, see that a mistake is told. */
#include "board.h"

#include <cmdq/c/cmdq.h>

enum { log2_size = 10, cpus = 8 };

static _Alignas(16 << log2_size) struct cmdq_command ring[1 << log2_size];
static _Alignas(64) unsigned char work[64 * 1024];

static int report(struct cmdq_refusal why) {
  board_print(why.field);
  board_print(": ");
  board_print(cmdq_status_name(why.code));
  board_print("\n");
  return 1;
}

static struct cmdq_command make(struct cmdq_fields fields) {
  struct cmdq_command c = {{0, 0}}; /* what is refused stays illegal */
  (void)cmdq_encode(&fields, &c);
  return c;
}

int main(void) {
  struct cmdq_options options = cmdq_default_options();
  options.log2_size = log2_size;
  options.batch_limit = 63;
  options.producers = cpus;
  const uint64_t patience_ns = 600000000000; /* an emulator on a busy host */
  options.deadline_ns = patience_ns;
  struct cmdq_refusal why = cmdq_smmuv3_bring_up(BOARD_SMMU, &options, (uintptr_t)ring, patience_ns);
  if (why.code != CMDQ_OK) return report(why); /* register, what it held, what it should have held */

  const struct cmdq_memory memory = {.ring = ring,
                                     .ring_bytes = sizeof ring,
                                     .ring_device_address = (uintptr_t)ring,
                                     .work = work,
                                     .work_bytes = sizeof work};
  const struct cmdq_device device = cmdq_smmuv3(BOARD_SMMU);
  struct cmdq_queue* queue;
  why = cmdq_init(&queue, &options, &memory, &device);
  if (why.code != CMDQ_OK) return report(why); /* option, its value, the limit */

  struct cmdq_producer cpu = {{0}}; /* one per CPU */
  if (cmdq_attach(queue, &cpu) != CMDQ_OK) return 1;
  const struct cmdq_command everything[] = {make((struct cmdq_fields){.op = CMDQ_OP_CFGI_STE_RANGE, .range = 31}),
                                            make((struct cmdq_fields){.op = CMDQ_OP_TLBI_NSNH_ALL})};
  if (cmdq_issue(&cpu, everything, 2).code != CMDQ_OK) return 1;
  const struct cmdq_command one = make((struct cmdq_fields){.op = CMDQ_OP_TLBI_NH_VA, .asid = 7, .addr = 0x8000});
  const struct cmdq_outcome done = cmdq_issue(&cpu, &one, 1); /* with a CMD_SYNC: the device has done it */
  const struct cmdq_command el2 = make((struct cmdq_fields){.op = CMDQ_OP_TLBI_EL2_ALL});
  const struct cmdq_outcome refused = cmdq_issue(&cpu, &el2, 1); /* this SMMU has no EL2 */
  const int ok = done.code == CMDQ_OK && done.done == 1 && refused.code == CMDQ_INVALID_ARGUMENT;
  board_print(ok ? "minimal in C: ok\n" : "minimal in C: failed\n");
  return ok ? 0 : 1;
}

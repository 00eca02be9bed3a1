/* SPDX-License-Identifier: BSL-1.0 */
/* Each call of the C interface, its answers to mistakes too. Compiled as C11 by each C compiler, for each
 * configuration. */
#include "../../../examples/c/toy_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

#define CHECK(what)                                         \
  do {                                                      \
    if (!(what)) {                                          \
      fprintf(stderr, "%d: not so: %s\n", __LINE__, #what); \
      ++failed;                                             \
    }                                                       \
  } while (0)

enum { log2_size = 6, entries = 1 << log2_size };

struct world {
  struct cmdq_options options;
  struct cmdq_memory memory;
  struct toy_device toy;
  struct cmdq_device device;
  struct cmdq_queue* queue;
};

static void setup(struct world* w) {
  w->options = cmdq_default_options();
  w->options.log2_size = log2_size;
  w->options.batch_limit = 4;
  w->options.producers = 2;
  w->options.deadline_ns = 60000000000; /* never by chance */
  const size_t work = cmdq_work_bytes(&w->options);
  w->memory.ring_bytes = entries * sizeof(struct cmdq_command);
  w->memory.ring = aligned_alloc(w->memory.ring_bytes, w->memory.ring_bytes);
  w->memory.ring_device_address = (uintptr_t)w->memory.ring;
  w->memory.work_bytes = work;
  /* What lies behind must stay as it is. */
  w->memory.work = aligned_alloc(64, work + 64);
  memset(w->memory.work, 0xa5, work + 64);
  toy_device_init(&w->toy, w->memory.ring, log2_size);
  w->device = toy_device_registers(&w->toy);
  w->queue = NULL;
}

static void teardown(struct world* w) {
  const unsigned char* const behind = (unsigned char*)w->memory.work + w->memory.work_bytes;
  for (int i = 0; i < 64; ++i) CHECK(behind[i] == 0xa5);
  free(w->memory.ring);
  free(w->memory.work);
}

static struct cmdq_refusal init(struct world* w) { return cmdq_init(&w->queue, &w->options, &w->memory, &w->device); }

static struct cmdq_command tlbi(uint64_t addr) {
  struct cmdq_command c = {{0, 0}};
  const struct cmdq_fields f = {.op = CMDQ_OP_TLBI_NH_VA, .vmid = 1, .asid = 2, .leaf = 1, .addr = addr};
  CHECK(cmdq_encode(&f, &c).code == CMDQ_OK);
  return c;
}

static bool refused(struct cmdq_refusal r, enum cmdq_status code, const char* field, uint64_t value, uint64_t limit) {
  const bool as_said = r.code == code && strcmp(r.field, field) == 0 && r.value == value && r.limit == limit;
  if (!as_said)
    fprintf(stderr, "%s, %s is %llu, limit %llu\n", cmdq_status_name(r.code), r.field, (unsigned long long)r.value,
            (unsigned long long)r.limit);
  return as_said;
}

static void commands(void) {
  const struct cmdq_command c = tlbi(0x3000);
  CHECK(c.word[0] == (0x12 | (uint64_t)1 << 32 | (uint64_t)2 << 48) && c.word[1] == 0x3001);
  struct cmdq_command kept = c;
  struct cmdq_fields f = {.op = CMDQ_OP_TLBI_NH_VA, .asid = 0x10000};
  CHECK(refused(cmdq_encode(&f, &kept), CMDQ_OUT_OF_RANGE, "asid", 0x10000, 0xffff));
  f.asid = 0;
  f.addr = 0x10;
  CHECK(refused(cmdq_encode(&f, &kept), CMDQ_MISALIGNED, "addr", 0x10, 0x1000));
  f.addr = 0;
  f.sid = 9;
  CHECK(refused(cmdq_encode(&f, &kept), CMDQ_INVALID_ARGUMENT, "sid", 9, 0));
  f.op = (enum cmdq_opcode)0x112;
  CHECK(refused(cmdq_encode(&f, &kept), CMDQ_INVALID_ARGUMENT, "opcode", 0x112, 0xff));
  CHECK(refused(cmdq_encode(NULL, &kept), CMDQ_INVALID_ARGUMENT, "fields", 0, 0));
  CHECK(memcmp(&kept, &c, sizeof c) == 0);
  CHECK(strcmp(cmdq_status_name(CMDQ_NO_SPACE), "no_space") == 0);
  CHECK(strcmp(cmdq_status_name((enum cmdq_status)77), "unknown") == 0);
}

static void mistakes(void) {
  struct world w;
  setup(&w);
  const struct world good = w;
  w.options.log2_size = 20;
  CHECK(cmdq_work_bytes(&w.options) == 0 && cmdq_work_bytes(NULL) == 0);
  CHECK(refused(init(&w), CMDQ_OUT_OF_RANGE, "log2_size", 20, 19) && w.queue == NULL);
  w.options = good.options;
  w.options.producers = 0;
  CHECK(refused(init(&w), CMDQ_OUT_OF_RANGE, "producers", 0, 1));
  w.options = good.options;
  --w.memory.work_bytes;
  CHECK(refused(init(&w), CMDQ_NO_SPACE, "work_bytes", good.memory.work_bytes - 1, good.memory.work_bytes));
  w.memory = good.memory;
  --w.memory.ring_bytes;
  CHECK(refused(init(&w), CMDQ_NO_SPACE, "ring_bytes", 1023, 1024));
  w.memory = good.memory;
  w.memory.ring_device_address += 16;
  CHECK(refused(init(&w), CMDQ_MISALIGNED, "device_address", w.memory.ring_device_address, 1024));
  w.memory = good.memory;
  w.memory.work = (char*)w.memory.work + 8;
  CHECK(refused(init(&w), CMDQ_MISALIGNED, "work", (uintptr_t)w.memory.work, 64));
  w.memory = good.memory;
  w.memory.work = NULL;
  CHECK(refused(init(&w), CMDQ_INVALID_ARGUMENT, "work", 0, 0));
  w.memory = good.memory;
  w.device.read_cons = NULL;
  CHECK(refused(init(&w), CMDQ_INVALID_ARGUMENT, "device: a function is null", 0, 0));
  w.device = good.device;
  CHECK(refused(cmdq_init(&w.queue, &w.options, &w.memory, NULL), CMDQ_INVALID_ARGUMENT, "device", 0, 0));

  CHECK(init(&w).code == CMDQ_OK && w.queue != NULL);
  const struct cmdq_command c = tlbi(0x1000);
  struct cmdq_producer nobody = {{0}};
  struct cmdq_ticket t;
  CHECK(cmdq_issue(&nobody, &c, 1).code == CMDQ_INVALID_ARGUMENT);
  CHECK(cmdq_issue(NULL, &c, 1).code == CMDQ_INVALID_ARGUMENT);
  CHECK(refused(cmdq_submit(&nobody, &c, 1, &t), CMDQ_INVALID_ARGUMENT, "producer", 0, 1));
  CHECK(cmdq_attach(w.queue, NULL) == CMDQ_INVALID_ARGUMENT);
  struct cmdq_producer a = {{0}};
  struct cmdq_producer b = {{0}};
  CHECK(cmdq_attach(w.queue, &a) == CMDQ_OK && cmdq_attach(w.queue, &a) == CMDQ_BUSY);
  CHECK(cmdq_attach(w.queue, &b) == CMDQ_OK);
  CHECK(cmdq_attach(w.queue, &nobody) == CMDQ_TOO_MANY_PRODUCERS);
  cmdq_detach(&b);
  CHECK(cmdq_issue(&b, &c, 1).code == CMDQ_INVALID_ARGUMENT);
  CHECK(cmdq_attach(w.queue, &nobody) == CMDQ_OK);
  CHECK(cmdq_issue(&a, NULL, 1).code == CMDQ_INVALID_ARGUMENT);
  CHECK(w.toy.executed == 0);
  teardown(&w);
}

static void calls(void) {
  struct world w;
  setup(&w);
  CHECK(init(&w).code == CMDQ_OK && cmdq_is_asynchronous(w.queue));
  struct cmdq_producer me = {{0}};
  CHECK(cmdq_attach(w.queue, &me) == CMDQ_OK);
  const struct cmdq_command list[6] = {tlbi(0x1000), tlbi(0x2000), tlbi(0x3000),
                                       tlbi(0x4000), tlbi(0x5000), tlbi(0x6000)};
  for (int i = 0; i < 100; ++i) {
    const struct cmdq_outcome o = cmdq_issue(&me, list, 6);
    CHECK(o.code == CMDQ_OK && o.inserted == 6 && o.done == 6 && o.lists == 2);
  }
  CHECK(w.toy.executed == 600);
  CHECK(cmdq_insert(&me, list, 1).code == CMDQ_OK);
  struct cmdq_ticket t;
  CHECK(refused(cmdq_submit(&me, list, 6, &t), CMDQ_OUT_OF_RANGE, "commands", 6, 4));
  CHECK(cmdq_submit(&me, list, 4, &t).code == CMDQ_OK);
  CHECK(cmdq_wait(&me, &t, 1000000000) == CMDQ_OK && cmdq_poll(&me, &t) == CMDQ_OK);
  CHECK(cmdq_issue(&me, NULL, 0).code == CMDQ_OK);
  CHECK(w.toy.executed == 605);
  CHECK(cmdq_prod_register(w.queue) == w.toy.prod && cmdq_cons_register(w.queue) == w.toy.cons);
  teardown(&w);
}

static void errors(void) {
  struct world w;
  setup(&w);
  CHECK(init(&w).code == CMDQ_OK);
  struct cmdq_producer me = {{0}};
  CHECK(cmdq_attach(w.queue, &me) == CMDQ_OK);
  const struct cmdq_command good = tlbi(0x1000);
  const struct cmdq_command bad = {{0, 0}};
  CHECK(cmdq_issue(&me, &bad, 1).code == CMDQ_ILLEGAL_COMMAND);
  CHECK(cmdq_issue(&me, &good, 1).code == CMDQ_OK);

  w.toy.stands = true;
  const struct cmdq_outcome late = cmdq_issue_for(&me, &good, 1, 1000000);
  CHECK(late.code == CMDQ_TIMEOUT);
  toy_device_resume(&w.toy);
  CHECK(cmdq_issue(&me, &good, 1).code == CMDQ_OK);
  CHECK(w.toy.executed == 2 + late.inserted);

  w.toy.gerror ^= 0x4; /* not the queue's */
  struct cmdq_error_report r = cmdq_handle_errors(w.queue);
  CHECK(r.code == CMDQ_OK && !r.handled && r.others == 0x4);
  cmdq_acknowledge(w.queue, 0x4);
  r = cmdq_handle_errors(w.queue);
  CHECK(r.code == CMDQ_OK && r.others == 0);
  CHECK(cmdq_recover(w.queue, true) == CMDQ_OK);
  cmdq_retire(w.queue);
  CHECK(cmdq_issue(&me, &good, 1).code == CMDQ_DEVICE_FAULT);
  CHECK(cmdq_recover(w.queue, true) == CMDQ_DEVICE_FAULT);
  teardown(&w);
}

int main(void) {
  commands();
  mistakes();
  calls();
  errors();
  printf(failed == 0 ? "all as said\n" : "%d not as said\n", failed);
  return failed == 0 ? 0 : 1;
}

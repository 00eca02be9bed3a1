/* SPDX-License-Identifier: BSL-1.0 */
#include "ck_queue.h"

#include <ck_ring.h>
#include <stdlib.h>

struct cmdq_bench_ck {
  ck_ring_t ring;
  ck_ring_buffer_t buffer[];
};

cmdq_bench_ck* cmdq_bench_ck_make(unsigned entries) {
  cmdq_bench_ck* const queue = calloc(1, sizeof *queue + entries * sizeof queue->buffer[0]);
  if (queue == NULL) abort();
  ck_ring_init(&queue->ring, entries);
  return queue;
}
void cmdq_bench_ck_free(cmdq_bench_ck* queue) { free(queue); }
int cmdq_bench_ck_push(cmdq_bench_ck* queue, void* item) {
  return ck_ring_enqueue_mpsc(&queue->ring, queue->buffer, item) ? 1 : 0;
}
void* cmdq_bench_ck_pop(cmdq_bench_ck* queue) {
  void* item = NULL;
  return ck_ring_dequeue_mpsc(&queue->ring, queue->buffer, &item) ? item : NULL;
}

/* SPDX-License-Identifier: BSL-1.0 */
#include "dpdk_queue.h"

#include <rte_ring.h>
#include <stdlib.h>

static struct rte_ring* ring_of(cmdq_bench_dpdk* queue) { return (struct rte_ring*)queue; }

cmdq_bench_dpdk* cmdq_bench_dpdk_make(unsigned entries) {
  const size_t line = RTE_CACHE_LINE_SIZE;
  const ssize_t bytes = rte_ring_get_memsize(entries);
  void* const memory = bytes < 0 ? NULL : aligned_alloc(line, ((size_t)bytes + line - 1) / line * line);
  if (memory == NULL || rte_ring_init(memory, "cmdq", entries, RING_F_SC_DEQ) != 0) abort();
  return memory;
}
void cmdq_bench_dpdk_free(cmdq_bench_dpdk* queue) { free(queue); }
int cmdq_bench_dpdk_push(cmdq_bench_dpdk* queue, void* item) {
  return rte_ring_mp_enqueue(ring_of(queue), item) == 0 ? 1 : 0;
}
void* cmdq_bench_dpdk_pop(cmdq_bench_dpdk* queue) {
  void* item = NULL;
  return rte_ring_sc_dequeue(ring_of(queue), &item) == 0 ? item : NULL;
}

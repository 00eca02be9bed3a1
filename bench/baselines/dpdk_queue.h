/* SPDX-License-Identifier: BSL-1.0 */
/* DPDK's ring, many producers and one consumer, behind four calls: its headers want compiler flags of their own. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cmdq_bench_dpdk cmdq_bench_dpdk;

/* `entries`: a power of two. Ends the program when there is no memory. */
cmdq_bench_dpdk* cmdq_bench_dpdk_make(unsigned entries);
void cmdq_bench_dpdk_free(cmdq_bench_dpdk* queue);
/* 0: full. */
int cmdq_bench_dpdk_push(cmdq_bench_dpdk* queue, void* item);
/* A null pointer: empty. One caller at a time. */
void* cmdq_bench_dpdk_pop(cmdq_bench_dpdk* queue);

#ifdef __cplusplus
}
#endif

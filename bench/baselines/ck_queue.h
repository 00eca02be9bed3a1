/* SPDX-License-Identifier: BSL-1.0 */
/* Concurrency Kit's many-producer ring behind three calls: its headers are C and no C++. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cmdq_bench_ck cmdq_bench_ck;

/* `entries`: a power of two. Ends the program when there is no memory. */
cmdq_bench_ck* cmdq_bench_ck_make(unsigned entries);
void cmdq_bench_ck_free(cmdq_bench_ck* queue);
/* 0: full. */
int cmdq_bench_ck_push(cmdq_bench_ck* queue, void* item);
/* A null pointer: empty. One caller at a time. */
void* cmdq_bench_ck_pop(cmdq_bench_ck* queue);

#ifdef __cplusplus
}
#endif

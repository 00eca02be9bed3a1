// SPDX-License-Identifier: BSL-1.0
// All CPUs do the same job, then wait for the next.
#pragma once

#include <stdint.h>

namespace board {

using job = void (*)(void* context, uint32_t cpu);

/// Starts every CPU that the machine has. Returns their number, the caller included.
uint32_t start_crew();

/// Runs job(context, cpu) on the CPUs 0..cpus-1, the caller being 0. Returns when all are done.
void all_do(job what, void* context, uint32_t cpus);

}  // namespace board

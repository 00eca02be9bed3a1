// SPDX-License-Identifier: BSL-1.0
#include "crew.hpp"

#include "board.hpp"

namespace board {
namespace {

job current = nullptr;
void* current_context = nullptr;
uint32_t current_cpus = 0;
uint32_t crew = 1;
uint32_t generation = 0;  // bumped when a job is ready
uint32_t busy = 0;        // CPUs that have not finished it, or not come up

uint32_t load(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

void relax() { __asm__ __volatile__("yield" ::: "memory"); }

void wait_until_idle() {
  while (load(busy) != 0) relax();
}

extern "C" uint64_t stack_is_whole(uint64_t index);

/// What a stack that is too small has overwritten fails in ways that point elsewhere.
void check_stacks() {
  for (uint32_t i = 0; i < crew; ++i) {
    if (stack_is_whole(i) != 0) continue;
    print("the stack of CPU ");
    print_number(i, 1);
    print(" is too small\n");
    exit(4);
  }
}

}  // namespace

uint32_t start_crew() {
  uint32_t cpus = 1;
  for (; cpus < max_cpus; ++cpus) {
    __atomic_fetch_add(&busy, 1, __ATOMIC_RELAXED);
    if (start_cpu(cpus) == 0) continue;
    __atomic_fetch_sub(&busy, 1, __ATOMIC_RELAXED);
    break;
  }
  wait_until_idle();
  crew = cpus;
  return cpus;
}

void all_do(job what, void* context, uint32_t cpus) {
  current = what;
  current_context = context;
  current_cpus = cpus;
  __atomic_store_n(&busy, crew - 1, __ATOMIC_RELAXED);  // those without a part answer too, so that none lags behind
  __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
  what(context, 0);
  wait_until_idle();
  check_stacks();
}

}  // namespace board

void cpu_main(uint32_t index) {
  using namespace board;
  uint32_t seen = 0;
  __atomic_fetch_sub(&busy, 1, __ATOMIC_RELEASE);
  for (;;) {
    while (load(generation) == seen) relax();
    ++seen;
    if (index < current_cpus) current(current_context, index);
    __atomic_fetch_sub(&busy, 1, __ATOMIC_RELEASE);
  }
}

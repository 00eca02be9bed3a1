// SPDX-License-Identifier: BSL-1.0
// The queue with the statistics policy CMDQ_BENCH_STATS, for no_stats.py to compare what the compiler makes of it.
#include <cmdq/stats/trace_ring.hpp>

#include "work.hpp"

template <class Allocation, class Completion>
struct observed : bench::instructions::config<Allocation, Completion> {
  using stats = CMDQ_BENCH_STATS;
};

bool all_of_them(long rounds) {
  using namespace cmdq;
  using bench::instructions::insert;
  return insert<observed<allocation::cmpxchg_loop, completion::poll_cons>>(rounds, true) &&
         insert<observed<allocation::owner_bits, completion::poll_cons>>(rounds, true) &&
         insert<observed<allocation::combining, completion::poll_cons>>(rounds, true) &&
         insert<observed<allocation::combining, completion::poll_msi>>(rounds, true);
}

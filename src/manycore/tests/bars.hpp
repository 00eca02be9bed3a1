// SPDX-License-Identifier: BSL-1.0
// All figures that the tests of the scenario hold: what was reached, less 3 %. One place, so that they can be renewed
// together (`cmdq simulate contention --time 3000000 --cpus ...` on the machine named).
#pragma once

#include <array>

namespace cmdq::manycore::test {

/// A strategy of the library over a published one, in lists per CPU and second, polls as the topology says.
struct bar {
  const char* topology;
  const char* strategy;
  const char* over;
  unsigned cpus;
  double least;
};

inline constexpr std::array bars = {
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 1, 0.97},
    bar{"arm-server-128", "combining", "owner_bits/published", 1, 0.97},
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 2, 0.97},
    bar{"arm-server-128", "combining", "owner_bits/published", 2, 0.97},
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 4, 0.97},
    bar{"arm-server-128", "combining", "owner_bits/published", 4, 0.97},
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 8, 0.97},
    bar{"arm-server-128", "combining", "owner_bits/published", 8, 0.97},
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 32, 4.51},
    bar{"arm-server-128", "combining", "owner_bits/published", 32, 3.11},
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 64, 8.63},
    bar{"arm-server-128", "combining", "owner_bits/published", 64, 3.66},
    bar{"arm-server-128", "combining", "cmpxchg_loop/published", 128, 6.5},
    bar{"arm-server-128", "combining", "owner_bits/published", 128, 4.06},
    bar{"server-64", "combining", "cmpxchg_loop/published", 1, 0.97},
    bar{"server-64", "combining", "owner_bits/published", 1, 0.97},
    bar{"server-64", "combining", "cmpxchg_loop/published", 2, 0.97},
    bar{"server-64", "combining", "owner_bits/published", 2, 0.97},
    bar{"server-64", "combining", "cmpxchg_loop/published", 4, 0.97},
    bar{"server-64", "combining", "owner_bits/published", 4, 0.97},
    bar{"server-64", "combining", "cmpxchg_loop/published", 8, 0.97},
    bar{"server-64", "combining", "owner_bits/published", 8, 0.97},
    bar{"server-64", "combining", "cmpxchg_loop/published", 64, 5.97},
    bar{"server-64", "combining", "owner_bits/published", 64, 5.97},
    bar{"soc-8", "combining", "cmpxchg_loop/published", 1, 0.97},
    bar{"soc-8", "combining", "owner_bits/published", 1, 0.97},
    bar{"soc-8", "combining", "cmpxchg_loop/published", 2, 0.91},
    bar{"soc-8", "combining", "owner_bits/published", 2, 0.9},
    bar{"soc-8", "combining", "cmpxchg_loop/published", 4, 0.97},
    bar{"soc-8", "combining", "owner_bits/published", 4, 0.97},
    bar{"soc-8", "combining", "cmpxchg_loop/published", 8, 0.97},
    bar{"soc-8", "combining", "owner_bits/published", 8, 0.97},
    bar{"arm-server-128", "cmpxchg_loop", "cmpxchg_loop/published", 8, 0.97},
    bar{"arm-server-128", "cmpxchg_loop", "cmpxchg_loop/published", 32, 0.98},
    bar{"arm-server-128", "cmpxchg_loop", "cmpxchg_loop/published", 64, 0.96},
    bar{"arm-server-128", "cmpxchg_loop", "cmpxchg_loop/published", 128, 0.98},
    bar{"arm-server-128", "owner_bits", "owner_bits/published", 8, 0.97},
    bar{"arm-server-128", "owner_bits", "owner_bits/published", 32, 0.97},
    bar{"arm-server-128", "owner_bits", "owner_bits/published", 64, 0.97},
    bar{"arm-server-128", "owner_bits", "owner_bits/published", 128, 0.98},
};

/// Uncached reads of device registers per list, at most; 128 CPUs of arm-server-128, polls of 5 to 40 ns.
inline constexpr double most_reads_by_cons = 2;
inline constexpr double most_reads_by_msi = 0.1;

/// How far the rates with polls of 5, 10, 20, 40 ns and none may lie apart: the least over the most.
inline constexpr double polls_agree = 0.95;

}  // namespace cmdq::manycore::test

// SPDX-License-Identifier: BSL-1.0
// What was published about command-queue contention, and which of it the machine's parameters are fitted to.
#pragma once

#include <array>

namespace cmdq::manycore {

enum class use { fitted, predicted };

/// map and unmap pairs per CPU per second, one queue shared by all CPUs, on a two-socket Arm server.
struct published_rate {
  const char* strategy;
  unsigned cpus;
  double per_cpu_per_second;
  use kind;
};

/// From the patch series that proposed owner bits in 2020 (harness and table in its cover letter).
inline constexpr std::array<published_rate, 6> published_contention = {{
    {"cmpxchg_loop/published", 32, 63187, use::fitted},
    {"cmpxchg_loop/published", 64, 19418, use::fitted},
    {"cmpxchg_loop/published", 128, 10169, use::fitted},
    {"owner_bits/published", 32, 93287, use::fitted},
    {"owner_bits/published", 64, 44789, use::predicted},
    {"owner_bits/published", 128, 15862, use::predicted},
}};

/// Attempts per successful claim of cmpxchg_loop at 64 CPUs ("about 1 attempt in 12 succeeded"). Fitted.
inline constexpr double published_attempts_64 = 12;

/// netperf UDP, 16 threads, 32 KiB packets, strict invalidation (hi1620), Gbit/s.
inline constexpr double published_msi_gbit = 25;
inline constexpr double published_cons_gbit = 27;
inline constexpr unsigned published_completion_cpus = 16;

}  // namespace cmdq::manycore

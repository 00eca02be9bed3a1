// SPDX-License-Identifier: BSL-1.0
// Explores one scenario under one schedule in this process.
#pragma once

#include "scenario.hpp"

#include <string>

namespace cmdq::checks {

struct request {
  schedule how = schedule::full;
  unsigned bound = 2;
  std::uint64_t first = 1;       ///< random: number of the first iteration; the seed is in its upper half
  std::uint64_t iterations = 1;  ///< random: how many; full, bounded: stop after so many, 0 = none
  std::string state;             ///< replay: what a failed exploration reported
};

struct report {
  ending result = ending::passed;
  bool cut = false;  ///< full, bounded: stopped by request.iterations
  std::uint64_t executions = 0;
  double seconds = 0;
  std::string detail;   ///< Relacy's words for the failure
  std::string state;    ///< to replay the failing execution
  std::string history;  ///< of the failing execution, readable
};

/// Random iteration numbers: 2^32 of them under each of 256 seeds.
inline constexpr unsigned seeds = 256;
constexpr std::uint64_t first_iteration(unsigned seed) { return (static_cast<std::uint64_t>(seed) << 32) + 1; }

report explore(const registered& what, const request& how);

}  // namespace cmdq::checks

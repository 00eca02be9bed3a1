// SPDX-License-Identifier: BSL-1.0
// What is compared on each of many machines, and the distribution of what came out.
#pragma once

#include <string>
#include <vector>

#include "strategies.hpp"

namespace cmdq::manycore {

/// One run of each strategy.
struct scenario {
  unsigned cpus;
  picoseconds sync;  ///< of a CMD_SYNC; 0: the machine's own
  unsigned list;     ///< commands
  picoseconds poll;  ///< 0: waiters never poll
};
const std::vector<scenario>& scenarios();

/// A ratio of two strategies' rates in one scenario.
struct ratio_key {
  std::string strategy;
  std::string over;
  scenario where;
};
/// Each of the library's own strategies over each published one, and each policy in the library's form over the
/// published form of the same policy; scenario by scenario.
std::vector<ratio_key> ratio_keys();

/// In the order of ratio_keys().
std::vector<double> ratios_on(const topology& machine);

/// The value that `share` of the sorted values lie below, interpolated.
double quantile(std::vector<double> values, double share);

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct ratio_options {
  unsigned repetitions = 10;
  double seconds = 0.25;
  std::vector<std::uint32_t> threads = {8, 32, 64, 128};
  std::vector<std::uint64_t> sync_ns = {2'000, 10'000};
  bool device_keeps_core = true;
  std::string json;  ///< file for all single runs and the verdicts; empty: none
};

/// Runs every strategy, baseline and pump in turn, again and again, and prints quotients of medians: combining over the
/// best baseline or other strategy, and the best of the library's own over the best pump. Returns the exit code: 1 if a
/// run found something wrong. A slow machine is nothing wrong: scripts/bench --compare tells a loss.
int ratios(const ratio_options& o);

}  // namespace bench

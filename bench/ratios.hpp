// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct ratio_options {
  unsigned repetitions = 10;
  double seconds = 0.25;
  std::vector<std::uint32_t> threads = {32, 64, 128};
  std::vector<std::uint64_t> sync_ns = {200, 2'000, 10'000};
  bool device_keeps_core = false;
  std::string json;  ///< file for all single runs and the verdicts; empty: none
};

/// Runs combining and every other strategy and baseline in turn, again and again, and compares medians. Prints a table
/// with the bars and whether they hold. Returns the exit code: 1 if a bar is missed or a run found something wrong.
int ratios(const ratio_options& o);

}  // namespace bench

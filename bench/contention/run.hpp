// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "contender.hpp"

namespace bench {

/// What one run gave. Times in nanoseconds unless named otherwise; "per list" is per list with its CMD_SYNC.
struct measurement {
  std::string failure;   ///< empty: the run checked itself and found nothing
  bool starved = false;  ///< fixed time: some thread got less than a tenth of its share
  double seconds = 0;
  double lists_per_second = 0;
  double p50 = 0, p99 = 0, p999 = 0, max = 0;  ///< from the call to its return
  double jain = 0;         ///< (sum x)^2 / (n sum x^2) of the threads' rates: 1 is equal, 1/n one thread only
  double least_share = 0;  ///< of the thread with the fewest lists, 1 being an equal part
  double switches_per_list = 0;
  double syncs_per_list = 0, prod_writes_per_list = 0, cons_reads_per_list = 0, retries_per_list = 0;
  double device_sync_ns = 0;  ///< what a CMD_SYNC really took the device, with its waiting for a processor
};

/// How evenly threads were served, from what each got.
struct fairness {
  double jain = 0;
  double least_share = 0;
  [[nodiscard]] bool starved() const { return least_share < 0.1; }
};
fairness fairness_of(const std::vector<double>& got);

/// Threads that issue lists and think 50 to 150 ns in between, for a time or for an amount of work. Checks that the
/// device executed every command once and in order.
measurement run(const entrant& who, const scenario& s);

}  // namespace bench

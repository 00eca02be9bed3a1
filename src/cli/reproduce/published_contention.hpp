// SPDX-License-Identifier: BSL-1.0
// map and unmap pairs per CPU per second, one queue shared by all, from the cover letters of the owner-bits series of
// 2020 (harness and load of v2 and of the review in
// September were others than in June: rates at 64 CPUs differ by a factor of two).
// The machine is fitted to four figures of June (published.hpp); everything else is held out.
#pragma once

namespace cmdq::cli {

struct published_pair {
  unsigned cpus;
  double before;  ///< compare-exchange loop
  double after;   ///< owner bits
};

struct published_table {
  const char* when;
  bool fitted_on;  ///< the machine was, but for `after` above 32 CPUs
  const published_pair* rows;
  unsigned count;
};

inline constexpr published_pair june_2020[] = {{32, 63187, 93287}, {64, 19418, 44789}, {128, 10169, 15862}};
inline constexpr published_pair august_2020[] = {
    {8, 282'000, 302'000}, {16, 115'000, 193'000}, {32, 36'000, 80'000}, {64, 11'000, 30'000}};
/// v5.9-rc1 and the series; the second of its three algorithms, another proposal, is left out.
inline constexpr published_pair september_2020[] = {
    {2, 453'000, 481'000}, {4, 409'000, 406'000}, {8, 295'000, 305'000}, {16, 157'000, 190'000},
    {32, 33'600, 81'000},  {64, 9'500, 30'000},   {96, 5'200, 18'700}};
inline constexpr published_table published_tables[] = {{"June 2020", true, june_2020, 3},
                                                       {"August 2020", false, august_2020, 4},
                                                       {"September 2020", false, september_2020, 7}};

/// Three NVMe drives, thousand IOPS (June: 1310 to 1630 without a unit; August: 1250K to 1550K). The number of CPUs was
/// not given.
inline constexpr double nvme_before_kiops = 1310;
inline constexpr double nvme_gain[] = {1630.0 / 1310, 1550.0 / 1250};

/// "About 25 % of the cycles" of the issue function were spent in the compare-exchange loop.
inline constexpr double claim_share_percent = 25;

}  // namespace cmdq::cli

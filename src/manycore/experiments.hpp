// SPDX-License-Identifier: BSL-1.0
// Sets of runs that reports are made of.
#pragma once

#include <string>
#include <vector>

#include "strategies.hpp"

namespace cmdq::manycore {

/// Mean over seeds 1..seeds: rates, latencies, shares and phase times; fairness is the worst of them.
contention_result average_over_seeds(const std::string& strategy, const std::string& completion, const topology& t,
                                     contention_options o, unsigned seeds);

/// The same machine with as many sockets as `cpus` need.
topology grown(const topology& t, unsigned cpus);

/// A device that takes `sync` for a CMD_SYNC.
topology with_sync(const topology& t, picoseconds sync);

/// Mean time of one transfer of a line between two different CPUs out of the first `cpus`, chosen at random.
picoseconds mean_transfer(const topology& t, unsigned cpus);

/// Lists per second that the device could do at most: each with its own CMD_SYNC signalled by MSI, or with none to
/// speak of. Entries come from a cache of the device's socket.
double device_ceiling(const topology& t, unsigned list_length, bool own_sync);

}  // namespace cmdq::manycore

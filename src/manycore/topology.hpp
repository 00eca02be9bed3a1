// SPDX-License-Identifier: BSL-1.0
// The simulated machine's shape and times, read from JSON. All times are integers in picoseconds once read, so that a
// run does not depend on the host's floating point.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace cmdq::manycore {

using picoseconds = std::uint64_t;

inline constexpr unsigned max_cpus = 256;

/// What a topology file got wrong: the text names the file, the field, the value and the limit.
struct topology_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What one transfer of a cache line costs, by how far it comes from.
struct distance_times {
  picoseconds l1 = 0;       ///< the CPU has the line
  picoseconds cluster = 0;  ///< from a CPU of the same cluster
  picoseconds die = 0;      ///< from another cluster of the same die
  picoseconds socket = 0;   ///< from another die of the same socket
  picoseconds remote = 0;   ///< from another socket
  picoseconds memory = 0;   ///< from memory or the last-level cache of the same socket, when no CPU holds the line
};

/// The device: where it hangs and how long it takes.
struct device_times {
  unsigned socket = 0;             ///< the socket it hangs on
  picoseconds command = 0;         ///< to execute one command
  picoseconds sync = 0;            ///< to execute one CMD_SYNC
  picoseconds fetch = 0;           ///< to fetch one line of entries, beyond the line's distance
  picoseconds doorbell = 0;        ///< from the CPU's write of PROD until the device sees it, same socket
  picoseconds doorbell_issue = 0;  ///< what the CPU itself pays for that posted write, barrier included
  picoseconds read = 0;            ///< round trip of an uncached register read, same socket
  picoseconds read_occupancy = 0;  ///< how long one register read keeps the port from reads and doorbells
  unsigned fetch_ahead = 0;        ///< lines that it fetches while it executes those before them
};

struct topology {
  std::string name;
  std::string source;  ///< where the numbers come from
  unsigned sockets = 1;
  unsigned dies_per_socket = 1;
  unsigned clusters_per_die = 1;
  unsigned cpus_per_cluster = 1;
  distance_times distance;
  picoseconds hold = 0;     ///< mean time a new exclusive owner keeps a line that others want
  picoseconds retry = 0;    ///< from a failed compare-exchange to the next attempt
  unsigned near_first = 0;  ///< how many requests from the socket that has a line may overtake one from another socket
  picoseconds share = 0;    ///< how long one read of a shared line keeps it from the next request
  picoseconds spin = 0;     ///< a poller sees a change at a random point within this time
  picoseconds think = 0;    ///< other work of one map and unmap pair, mean
  picoseconds poll = 0;   ///< from one fruitless poll of a cached word to the next; 0: a waiter never polls, it sleeps
  picoseconds clock = 0;  ///< to read the clock
  unsigned store_buffer = 0;  ///< stores that wait for their lines while their CPU goes on; 0: it waits for each
  unsigned misses = 1;        ///< of those, how many lines are asked for at the same time
  device_times device;

  [[nodiscard]] unsigned cpus_per_die() const noexcept { return clusters_per_die * cpus_per_cluster; }
  [[nodiscard]] unsigned cpus_per_socket() const noexcept { return dies_per_socket * cpus_per_die(); }
  [[nodiscard]] unsigned cpus() const noexcept { return sockets * cpus_per_socket(); }
};

/// Throws topology_error; `origin` is the file's name for the text.
topology parse_topology(const std::string& text, const std::string& origin);

/// The same as JSON, in nanoseconds; parse_topology reads it back unchanged.
nlohmann::ordered_json to_json(const topology& t);

/// A shipped topology by name, or else a file by path. Throws topology_error.
topology load_topology(const std::string& name_or_file);

/// Names of the shipped topologies.
std::vector<std::string> shipped_topologies();

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
// One replay: a stream through a queue of one configuration into a modelled device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "replay/check.hpp"

namespace cmdq::cli {

/// What a run is made of; the names are those of the options.
struct setup {
  std::string strategy = "combining";
  std::string completion = "cons";
  std::string reclaim = "counted";
  std::string wait = "spin_then_yield";
  std::string device = "inline";
  std::uint32_t threads = 1;
  std::uint32_t entries = 256;
  std::uint32_t groups = 1;       ///< issuer i gathers in group i modulo this
  std::uint32_t batch_limit = 0;  ///< 0: the longest list of the stream
  std::uint64_t command_ns = 0;
  std::uint64_t sync_ns = 0;
  std::uint64_t deadline_ms = 10'000;
  std::uint32_t yield_one_in = 0;
};

/// What a run did. Counts are those of the queue's own counters, over all threads.
struct report {
  std::string refused;     ///< not empty: these options were refused, nothing was run
  bool too_small = false;  ///< refused because the ring cannot hold what the threads may have outstanding
  std::string failed;      ///< not empty: the first check that failed
  std::uint64_t lists = 0;
  std::uint64_t commands = 0;  ///< of the stream, without CMD_SYNCs
  std::uint64_t syncs = 0;     ///< CMD_SYNCs that the queue put into the ring
  std::uint64_t prod_writes = 0;
  std::uint64_t cons_reads = 0;
  std::uint64_t retries = 0;
  double seconds = 0;
};

/// Called now and then with the number of lists done.
using telling = std::function<void(std::uint64_t)>;

/// The strategies there are, and their runs by name. Throws input_error for a name that is none.
const std::vector<std::string>& strategy_names();
report run_replay(const stream& s, const setup& with, const telling& tell);

/// What else would serve `threads` that may each have `longest` entries outstanding, where a ring of `entries` is too
/// small for the strategy that was asked for.
std::string ways_out(std::uint32_t threads, std::uint32_t longest, std::uint32_t entries);

}  // namespace cmdq::cli

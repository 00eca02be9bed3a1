// SPDX-License-Identifier: BSL-1.0
// Several queues of one device (ECMDQ, virtual command queues), each for a part of the CPUs, against one for all.
#pragma once

#include <string>

#include "contention.hpp"

namespace cmdq::manycore {

struct queues_options {
  contention_options load;          ///< its log2_size is for one queue alone; several have smaller ones
  unsigned queues = 1;              ///< 1 to most_queues; CPUs next to each other share one
  bool syncs_occupy_engine = true;  ///< while the device waits for a CMD_SYNC, does it execute other queues' commands?
};
inline constexpr unsigned most_queues = 128;

struct queues_result {
  double per_cpu_per_second = 0;
  double syncs_per_list = 0;
  double engine_busy = 0;  ///< share of the time that commands (and CMD_SYNCs, where they occupy it) take in the engine
  double latency_ns = 0;
  double longest_ns = 0;
};

/// As run_contention(), through multi::queue_set: each CPU issues to the queue of its group. MSI completion.
queues_result run_queues(const std::string& strategy, const topology& shape, const queues_options& o);

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
// Umbrella for hosted programs: the queue with everything to build it from, and the default configuration.
#pragma once

#include <cmdq/completion/automatic.hpp>
#include <cmdq/platform/boost_atomic.hpp>
#include <cmdq/platform/std_atomic.hpp>
#include <cmdq/queue/batch.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/reclaim/sync_locked.hpp>
#include <cmdq/stats/counters.hpp>
#include <cmdq/stats/dump.hpp>
#include <cmdq/wait/park.hpp>
#include <cmdq/wait/spin_then_yield.hpp>

namespace cmdq {

/// For threads on an operating system: Boost.Atomic, waits that give the processor away, the combining strategy.
struct default_config : freestanding_config {
  using platform = cmdq::platform::boost_atomic;
  using wait = cmdq::wait::spin_then_yield;
};

static_assert(queue_config<default_config>);

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// All shipped strategies through all scenarios, with the CPUs that the machine has.
#pragma once

#include "platform_check.hpp"
#include "scenarios.hpp"

#include <cmdq/reclaim/sync_locked.hpp>
#include <cmdq/wait/wfe.hpp>

namespace producers {

template <class Base>
struct sync_locked : Base {
  using reclaim = cmdq::reclaim::sync_locked;
};
template <class Base>
struct sleeping : Base {
  using wait = cmdq::wait::wfe;
};

template <class Base>
struct in_groups : Base {
  static constexpr uint32_t groups = most_groups;
};

/// The process's exit status. `lists`: about how many each scenario inserts, all CPUs together.
template <class Platform>
int run_all(uint32_t lists) {
  using cmpxchg_loop = config<Platform, cmdq::allocation::cmpxchg_loop>;
  using owner_bits = config<Platform, cmdq::allocation::owner_bits>;
  using combining = config<Platform, cmdq::allocation::combining>;
  using delegated = config<Platform, cmdq::allocation::delegated>;
  const uint32_t cpus = board::start_crew();
  const bool platform_ok = check_platform(cpus);
  uint32_t phases = 0;
  print_head(cpus);
  bool ok = trial<cmpxchg_loop>("cmpxchg_loop", cpus, phases).run(lists) && platform_ok;
  ok = trial<sync_locked<cmpxchg_loop>>("cmpxchg_loop/sync_locked", cpus, phases).run(lists) && ok;
  ok = trial<owner_bits>("owner_bits", cpus, phases).run(lists) && ok;
  ok = trial<sync_locked<owner_bits>>("owner_bits/sync_locked", cpus, phases).run(lists) && ok;
  ok = trial<combining>("combining", cpus, phases).run(lists) && ok;
  ok = trial<sleeping<combining>>("combining/wfe", cpus, phases).run(lists) && ok;
  ok = trial<delegated>("delegated", cpus, phases).run(lists) && ok;
  ok = trial<sleeping<delegated>>("delegated/wfe", cpus, phases).run(lists) && ok;
  if constexpr (cmdq::placed_platform<Platform>)
    ok = trial<in_groups<combining>>("combining/groups", cpus, phases).run(lists) && ok;
  board::print(ok ? "producers: ok\n" : "producers: failed\n");
  return ok ? 0 : 1;
}

}  // namespace producers

// SPDX-License-Identifier: BSL-1.0
// All shipped strategies through all scenarios, with the CPUs that the machine has.
#pragma once

#include "platform_check.hpp"
#include "scenarios.hpp"

#include <cmdq/allocation/strategies.hpp>
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
  const uint32_t cpus = board::start_crew();
  const bool platform_ok = check_platform(cpus);
  uint32_t phases = 0;
  print_head(cpus);
  bool ok = platform_ok;
#define CMDQ_TRY(name, locked)                            \
  using name = config<Platform, cmdq::allocation::name>;  \
  ok = trial<name>(#name, cpus, phases).run(lists) && ok; \
  if constexpr (locked) ok = trial<sync_locked<name>>(#name "/sync_locked", cpus, phases).run(lists) && ok;
  CMDQ_FOR_EACH_STRATEGY(CMDQ_TRY)
#undef CMDQ_TRY
  ok = trial<sleeping<combining>>("combining/wfe", cpus, phases).run(lists) && ok;
  ok = trial<sleeping<delegated>>("delegated/wfe", cpus, phases).run(lists) && ok;
  if constexpr (cmdq::placed_platform<Platform>)
    ok = trial<in_groups<combining>>("combining/groups", cpus, phases).run(lists) && ok;
  board::print(ok ? "producers: ok\n" : "producers: failed\n");
  return ok ? 0 : 1;
}

}  // namespace producers

// SPDX-License-Identifier: BSL-1.0
#include <cmdq/allocation/strategies.hpp>

#include "contender.hpp"

namespace bench {

// Each is in a queues_*.cpp; a strategy that has none does not link.
#define CMDQ_DECLARE_QUEUES(name, locked) std::vector<entrant> queues_##name();
CMDQ_FOR_EACH_STRATEGY(CMDQ_DECLARE_QUEUES)

std::vector<entrant> all_entrants() {
  std::vector<entrant> all;
  const auto add = [&](const std::vector<entrant>& some) { all.insert(all.end(), some.begin(), some.end()); };
#define CMDQ_ADD_QUEUES(name, locked) add(queues_##name());
  CMDQ_FOR_EACH_STRATEGY(CMDQ_ADD_QUEUES)
  add(lock_baselines());
  add(third_party());
  return all;
}

}  // namespace bench

// SPDX-License-Identifier: BSL-1.0
// Scenarios that the explorer searches to their end.
#pragma once

#include "../support/queue_scenario.hpp"
#include "front.hpp"

namespace cmdq::checks {

struct explored {
  facts about;
  workload work;
  exhaust::kind size = exhaust::kind::everyday;
  exhaust::limits how = {};
};

struct explored_scenario {
  registered what;
  exhaust::limits how;
  exhaust::kind size;
};
std::vector<explored_scenario>& explored_scenarios();

/// What every scenario of the queue proves.
inline constexpr const char* everything = "all guarantees of the queue";

template <class Scenario>
scenario* construct_with(const void* parameter, void* storage) {
  static_assert(sizeof(Scenario) <= scenario_storage && alignof(Scenario) <= scenario_alignment);
  return ::new (storage) Scenario(*static_cast<const workload*>(parameter));
}
template <class Scenario>
void add_explored(const explored& e) {
  explored_scenarios().push_back({{&e.about, construct_with<Scenario>, &e.work}, e.how, e.size});
}

/// One without a workload.
template <class S>
class explored_alone {
 public:
  explored_alone() {
    static const facts about = S::about;
    explored_scenarios().push_back(
        {{&about, [](const void*, void* storage) -> scenario* { return ::new (storage) S; }}, {}, S::size});
  }
};

}  // namespace cmdq::checks

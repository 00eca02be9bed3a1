// SPDX-License-Identifier: BSL-1.0
// The whole queue, every interleaving, for each strategy and way of completion.
#include "registry.hpp"

#include <list>

namespace cmdq::checks {
namespace {

using exhaust::kind;

/// A family of scenarios for one configuration. Names and cases live as long as the program.
template <class Config, template <class> class Scenario = queue_scenario>
void add(const std::string& prefix, const explored& e) {
  static std::list<std::string> names;
  static std::list<explored> kept;
  names.push_back(prefix + e.about.name);
  kept.push_back(e);
  kept.back().about.name = names.back().c_str();
  add_explored<Scenario<Config>>(kept.back());
}

const explored flat[] = {
    {{"2x1", everything, "2 producers, 1 list of 1, ring of 4", 3, schedule::full}, {.first = 3}},
    {{"2x2", everything, "2 producers, 2 lists of 1, ring of 4: entries are used again", 3, schedule::full},
     {.first = 3, .lists = 2}, {}, kind::deep},
    {{"3x1", everything, "3 producers, 1 list of 1, ring of 8", 4, schedule::full},
     {.log2 = 3, .first = 6, .producers = 3}, {}, kind::deep},
};

template <class Strategy>
void add_strategy(const std::string& name) {
  for (const explored& e : flat) {
    add<checked_config<Strategy>>("queue/" + name + "/cons/", e);
    add<checked_config<Strategy, completion::poll_msi>>("queue/" + name + "/msi/", e);
  }
}

const bool added = [] {
  add_strategy<allocation::cmpxchg_loop>("cmpxchg_loop");
  add_strategy<allocation::owner_bits>("owner_bits");
  add_strategy<allocation::combining>("combining");
  return true;
}();

}  // namespace
}  // namespace cmdq::checks

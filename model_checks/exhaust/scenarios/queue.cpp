// SPDX-License-Identifier: BSL-1.0
// The whole queue, every interleaving, for each strategy and way of completion.
#include "../calls.hpp"

#include <list>

namespace cmdq::checks {
namespace {

using exhaust::kind;
constexpr kind everyday = kind::everyday;
constexpr kind by_count = kind::by_count;
constexpr auto full = schedule::full;

/// A thread that waits for what only a look at the device shows looks when time goes on.
constexpr exhaust::limits looks{.ticks = 10};
constexpr exhaust::limits one_time_out{.time_outs = 1, .ticks = 10};
constexpr exhaust::limits stops{.ticks = 12, .stopped = 0};

// Names are completed by the configuration's. "at once": the device works inside the PROD write.
const explored small[] = {
    {{"2x1", everything, "2 producers, 1 list of 1, ring of 4", 3, full}, {.first = 3}, everyday, looks},
};
const explored large[] = {
    {{"2x2", everything, "2 producers, 2 lists of 1, ring of 4: entries are used again", 3, full},
     {.first = 3, .lists = 2},
     by_count,
     looks},
    {{"3x1", everything, "3 producers, 1 list of 1, ring of 8", 4, full},
     {.log2 = 3, .first = 6, .producers = 3},
     by_count,
     looks},
    {{"2x3_at_once", everything, "2 producers, 3 lists of 1, ring of 4, device at once", 2, full},
     {.first = 3, .lists = 3, .device = {.at_once = true}},
     by_count,
     looks},
};
const explored at_once[] = {
    {{"2x2_at_once", everything, "2 producers, 2 lists of 1, ring of 4, device at once", 2, full},
     {.first = 3, .lists = 2, .device = {.at_once = true}},
     by_count,
     looks},
    {{"3x1_at_once", everything, "3 producers, 1 list of 1, ring of 8, device at once", 3, full},
     {.log2 = 3, .first = 6, .producers = 3, .device = {.at_once = true}},
     by_count,
     looks},
};
// Larger where completion is by CONS: it shows its error code from then on, and each poll looks at GERROR.
const explored illegal[] = {
    {{"2x1_illegal", "an illegal command's own caller is told, nobody else; the queue goes on",
      "2 producers, 1 list of 1, one illegal, ring of 4", 3, full},
     {.first = 3, .illegal = 0},
     by_count,
     looks},
};
const explored late[] = {
    {{"2x1_time_out", "a call that times out anywhere loses nothing and disturbs nobody",
      "2 producers, 1 list of 1, one time-out, ring of 4", 3, full},
     {.first = 3},
     by_count,
     one_time_out},
};
const explored stopped[] = {
    {{"2x1_stopped", "a producer that stops for ever anywhere keeps nobody past the deadline",
      "2 producers, 1 list of 1, one stops, ring of 4", 3, full},
     {.first = 3},
     by_count,
     stops},
};
const explored mended[] = {
    {{"2x1_recover", "recover() beside others harms nobody", "2 producers, 1 list of 1, one recover(), ring of 4", 4,
      full},
     {.first = 3},
     by_count,
     looks},
};

struct grouping {
  unsigned groups = 1;
  unsigned size = 2;
};

/// A family for one configuration. Names and cases live as long as the program.
template <class Scenario, std::size_t N>
void add(const std::string& prefix, const explored (&cases)[N], const grouping& by) {
  static std::list<std::string> names;
  static std::list<explored> kept;
  for (const explored& e : cases) {
    names.push_back(prefix + e.about.name);
    kept.push_back(e);
    kept.back().about.name = names.back().c_str();
    kept.back().work.groups = by.groups;
    kept.back().work.group_size = by.size;
    add_explored<Scenario>(kept.back());
  }
}

template <class Config>
void add_config(const std::string& prefix, const grouping& by = {}) {
  add<queue_scenario<Config>>(prefix, small, by);
  add<queue_scenario<Config>>(prefix, large, by);
  add<queue_scenario<Config>>(prefix, at_once, by);
  add<queue_scenario<Config>>(prefix, illegal, by);
  add<late_scenario<Config>>(prefix, late, by);
  add<late_scenario<Config, true>>(prefix, stopped, by);
  add<mended_scenario<Config>>(prefix, mended, by);
}

template <class Strategy>
void add_strategy(const std::string& name) {
  using by_cons = checked_config<Strategy>;
  using by_msi = checked_config<Strategy, completion::poll_msi>;
  add_config<by_cons>(name + "/cons/");
  add_config<by_msi>(name + "/msi/");
  if (!Strategy::gathers_in_groups) return;
  constexpr grouping one{2, 3};
  constexpr grouping two{2, 1};
  add_config<by_cons>(name + "/cons/one_group/", one);
  add_config<by_cons>(name + "/cons/two_groups/", two);
  add_config<by_msi>(name + "/msi/one_group/", one);
  add_config<by_msi>(name + "/msi/two_groups/", two);
}

const bool added = [] {
  add_strategy<allocation::cmpxchg_loop>("cmpxchg_loop");
  add_strategy<allocation::owner_bits>("owner_bits");
  add_strategy<allocation::combining>("combining");
  add_strategy<allocation::delegated>("delegated");
  return true;
}();

}  // namespace
}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
// What the scenario's results are held to; the figures are in bars.hpp.
#include "bars.hpp"

#include <algorithm>

#include "../experiments.hpp"
#include "../strategies.hpp"
#include "check.hpp"

namespace cmdq::manycore {
namespace {

contention_result measured(const std::string& strategy, const char* completion, const topology& t, unsigned cpus) {
  contention_options o;
  o.cpus = cpus;
  o.think = t.think;
  o.time = 3'000'000'000;
  if (cpus <= 8) {  // a lap of the ring, after which no line is fetched for the first time
    o.warm_up = 12'000'000'000;
    o.time = 20'000'000'000;
  }
  return run_contention(strategy, completion, t, o);
}

}  // namespace

CHECKED_TEST(the_librarys_strategies_keep_their_lead) {
  std::string below;
  for (const auto& b : test::bars) {
    const topology t = load_topology(b.topology);
    const auto mine = measured(b.strategy, "msi", t, b.cpus);
    const double over = mine.per_cpu_per_second / measured(b.over, "msi", t, b.cpus).per_cpu_per_second;
    fmt::print("{} {} over {}, {} CPUs: {:.3f}, at least {:.3f}\n", b.topology, b.strategy, b.over, b.cpus, over,
               b.least);
    if (over < b.least)
      below += fmt::format(" {} {} over {} at {} CPUs: {:.3f} < {:.3f};", b.topology, b.strategy, b.over, b.cpus, over,
                           b.least);
    const auto own = strategies(role::own);
    CHECK(std::find(own.begin(), own.end(), b.strategy) == own.end() || mine.fairness >= 0.8);
  }
  test::holds(below.empty(), below);
}

CHECKED_TEST(polls_do_not_change_the_answer) {
  topology t = load_topology("arm-server-128");
  for (const std::string s : {"combining"})  // delegated differs by up to 7 % at 64 CPUs
    for (const unsigned cpus : {32U, 64U, 128U}) {
      std::vector<double> rates;
      for (const picoseconds poll : {0U, 5'000U, 10'000U, 20'000U, 40'000U}) {
        t.poll = poll;
        contention_options o;
        o.cpus = cpus;
        o.think = t.think;
        o.time = 5'000'000'000;
        rates.push_back(average_over_seeds(s, "msi", t, o, 2).per_cpu_per_second);
      }
      const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
      fmt::print("{} {} CPUs: {:.0f} to {:.0f}\n", s, cpus, *least, *most);
      CHECK(*least >= test::polls_agree * *most);
    }
}

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
#include "comparison_set.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "experiments.hpp"

namespace cmdq::manycore {

namespace {

constexpr picoseconds ns = 1000;
constexpr picoseconds us = 1000 * ns;
constexpr picoseconds ms = 1000 * us;
constexpr picoseconds usual_poll = 10 * ns;

/// Few CPUs take longer for a lap of the ring, and only then is no line fetched for the first time.
contention_options options_of(const topology& t, const scenario& s) {
  contention_options o;
  o.cpus = s.cpus;
  o.think = t.think;
  o.list_length = s.list;
  o.time = (s.cpus <= 8 ? 10 * ms : 2 * ms) + s.sync * 4 * s.cpus;
  o.warm_up = s.cpus <= 8 ? 14 * ms : o.time / 5;
  return o;
}

std::vector<std::pair<std::string, std::string>> compared_pairs() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& own : strategies(role::own))
    for (const auto& published : strategies(role::published)) out.emplace_back(own, published);
  for (const auto& published : strategies(role::published))
    for (const auto& form : strategies(role::variant))
      if (form + "/published" == published) out.emplace_back(form, published);
  return out;
}

}  // namespace

const std::vector<scenario>& scenarios() {
  static const std::vector<scenario> all = [] {
    std::vector<scenario> out;
    constexpr std::array many = {32U, 64U, 128U};
    for (const picoseconds poll : {5 * ns, 10 * ns, 20 * ns, 40 * ns, picoseconds{0}})
      for (const unsigned cpus : many) out.push_back({cpus, 0, 1, poll});
    for (const picoseconds sync : {1 * us, 20 * us})
      for (const unsigned cpus : many) out.push_back({cpus, sync, 1, usual_poll});
    for (const unsigned cpus : many) out.push_back({cpus, 1 * ms, 1, 0});
    for (const unsigned list : {16U, 64U})
      for (const unsigned cpus : many) out.push_back({cpus, 0, list, usual_poll});
    for (const unsigned cpus : {1U, 2U, 4U, 8U}) out.push_back({cpus, 0, 1, usual_poll});
    return out;
  }();
  return all;
}

std::vector<ratio_key> ratio_keys() {
  std::vector<ratio_key> out;
  for (const auto& s : scenarios())
    for (const auto& [strategy, over] : compared_pairs()) out.push_back({strategy, over, s});
  return out;
}

std::vector<double> ratios_on(const topology& machine) {
  std::vector<double> out;
  for (const auto& s : scenarios()) {
    topology t = s.sync == 0 ? machine : with_sync(machine, s.sync);
    t.poll = s.poll;
    std::map<std::string, double> rates;
    const auto rate = [&](const std::string& name) {
      const auto at = rates.find(name);
      if (at != rates.end()) return at->second;
      return rates[name] = run_contention(name, "msi", t, options_of(t, s)).per_cpu_per_second;
    };
    for (const auto& [strategy, over] : compared_pairs()) out.push_back(rate(strategy) / rate(over));
  }
  return out;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
#include "strategies.hpp"

#include <array>

#include "configurations.hpp"

namespace cmdq::manycore {

namespace {

using runner = contention_result (*)(const topology&, const contention_options&);

struct runners {
  runner msi;
  runner cons;
};

/// In the order of configurations::each().
const std::vector<runners>& all_runners() {
  static const std::vector<runners> all = [] {
    std::vector<runners> out;
    each_configuration([&]<class Row>(Row) {
      out.push_back({run_contention<simulated_config<Row, completion::poll_msi>>,
                     run_contention<simulated_config<Row, completion::poll_cons>>});
    });
    return out;
  }();
  return all;
}

[[noreturn]] void unknown(const char* what, const std::string& name, const std::vector<std::string>& known) {
  throw std::invalid_argument(fmt::format("{} \"{}\" is not one of: {}", what, name, fmt::join(known, ", ")));
}

}  // namespace

const std::vector<strategy>& strategies() {
  static const std::vector<strategy> all = [] {
    std::vector<strategy> out;
    each_configuration([&]<class Row>(Row) { out.push_back({Row::name, Row::kind}); });
    return out;
  }();
  return all;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const auto& s : strategies()) names.push_back(s.name);
  return names;
}

std::vector<std::string> strategies(role kind) {
  std::vector<std::string> names;
  for (const auto& s : strategies())
    if (s.kind == kind) names.push_back(s.name);
  return names;
}

std::vector<std::string> compared_strategies() {
  auto names = strategies(role::published);
  for (const auto& n : strategies(role::own)) names.push_back(n);
  return names;
}

std::vector<std::string> completions() { return {"msi", "cons"}; }

contention_result run_contention(const std::string& strategy, const std::string& completion, const topology& shape,
                                 const contention_options& o) {
  if (completion != "msi" && completion != "cons") unknown("completion", completion, completions());
  for (std::size_t i = 0; i < strategies().size(); ++i)
    if (strategies()[i].name == strategy) {
      const runners& r = all_runners()[i];
      return (completion == "msi" ? r.msi : r.cons)(shape, o);
    }
  throw_unknown_strategy(strategy);
}

void throw_unknown_strategy(const std::string& name) { unknown("strategy", name, strategy_names()); }

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
// The strategies by name. Each is compiled in a file of its own, made from strategy.cpp.in.
#include <cmdq/allocation/strategies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "errors.hpp"
#include "replay/run.hpp"

namespace cmdq::cli {

#define CMDQ_DECLARE_RUN(name, locked) report run_##name(const stream& s, const setup& with, const telling& tell);
CMDQ_FOR_EACH_STRATEGY(CMDQ_DECLARE_RUN)

namespace {

struct strategy {
  const char* name;
  report (*run)(const stream&, const setup&, const telling&);
  bool claims_before_space;
};

#define CMDQ_LIST_RUN(name, locked) {#name, run_##name, allocation::name::claims_before_space},
constexpr strategy all[] = {CMDQ_FOR_EACH_STRATEGY(CMDQ_LIST_RUN)};

}  // namespace

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    for (const strategy& s : all) n.emplace_back(s.name);
    return n;
  }();
  return names;
}

report run_replay(const stream& s, const setup& with, const telling& tell) {
  for (const strategy& one : all)
    if (with.strategy == one.name) return one.run(s, with, tell);
  throw input_error(fmt::format("strategy {} is none of {}", with.strategy, fmt::join(strategy_names(), ", ")));
}

std::string ways_out(std::uint32_t threads, std::uint32_t longest, std::uint32_t entries) {
  std::vector<std::string> ways;
  const std::uint64_t enough = std::bit_ceil(std::uint64_t{threads} * longest);
  if (enough <= 1U << max_log2_size) ways.push_back(fmt::format("--entries {}", enough));
  if (entries / longest >= 1) ways.push_back(fmt::format("--threads {}", entries / longest));
  std::vector<std::string> patient;
  for (const strategy& s : all)
    if (!s.claims_before_space) patient.emplace_back(s.name);
  if (longest <= entries && !patient.empty())
    ways.push_back(fmt::format("--strategy {} (looks for space before it claims)", fmt::join(patient, " or ")));
  return ways.empty() ? "nothing but shorter lists" : fmt::format("{}", fmt::join(ways, ", or "));
}

}  // namespace cmdq::cli

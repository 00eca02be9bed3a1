// SPDX-License-Identifier: BSL-1.0
#include "strategies.hpp"

#include <array>
#include <cmdq/reclaim/sync_locked.hpp>

namespace cmdq::manycore {

namespace {

template <class Allocation, class Reclaim, class Completion>
struct simulated_config : freestanding_config {
  using platform = manycore::platform;
  using allocation = Allocation;
  using completion = Completion;
  using reclaim = Reclaim;
};

using runner = contention_result (*)(const topology&, const contention_options&);

struct named_strategy {
  const char* name;
  runner msi;
  runner cons;
};

template <class Allocation, class Reclaim>
constexpr named_strategy make(const char* name) {
  return {name, run_contention<simulated_config<Allocation, Reclaim, completion::poll_msi>>,
          run_contention<simulated_config<Allocation, Reclaim, completion::poll_cons>>};
}

constexpr std::array all = {
    make<allocation::cmpxchg_loop, reclaim::sync_locked>("cmpxchg_loop"),
    make<allocation::owner_bits, reclaim::sync_locked>("owner_bits"),
    make<allocation::combining, reclaim::counted>("combining"),
    make<allocation::delegated, reclaim::counted>("delegated"),
    make<allocation::cmpxchg_loop, reclaim::counted>("cmpxchg_loop_counted"),
    make<allocation::owner_bits, reclaim::counted>("owner_bits_counted"),
};

[[noreturn]] void unknown(const char* what, const std::string& name, const std::vector<std::string>& known) {
  throw std::invalid_argument(fmt::format("{} \"{}\" is not one of: {}", what, name, fmt::join(known, ", ")));
}

}  // namespace

std::vector<std::string> strategies() {
  std::vector<std::string> names;
  for (const auto& s : all) names.emplace_back(s.name);
  return names;
}

std::vector<std::string> completions() { return {"msi", "cons"}; }

contention_result run_contention(const std::string& strategy, const std::string& completion, const topology& shape,
                                 const contention_options& o) {
  if (completion != "msi" && completion != "cons") unknown("completion", completion, completions());
  for (const auto& s : all)
    if (s.name == strategy) return (completion == "msi" ? s.msi : s.cons)(shape, o);
  unknown("strategy", strategy, strategies());
}

}  // namespace cmdq::manycore

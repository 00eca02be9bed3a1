// SPDX-License-Identifier: BSL-1.0
#include "recorded.hpp"

namespace cmdq::checks {

namespace {

struct recorded {
  const char* scenario;
  std::uint64_t executions;
};

constexpr recorded counts[] = {
#include "../recorded_counts.inc"
};

constexpr recorded exhaust_counts[] = {
#include "../exhaust_counts.inc"
};

template <std::size_t N>
std::uint64_t find(const recorded (&table)[N], std::string_view scenario) {
  for (const recorded& r : table) {
    if (scenario == r.scenario) return r.executions;
  }
  return not_recorded;
}

}  // namespace

std::uint64_t recorded_count(std::string_view scenario) { return find(counts, scenario); }
std::uint64_t recorded_exhaust_count(std::string_view scenario) { return find(exhaust_counts, scenario); }

}  // namespace cmdq::checks

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

}  // namespace

std::uint64_t recorded_count(std::string_view scenario) {
  for (const recorded& r : counts) {
    if (scenario == r.scenario) return r.executions;
  }
  return not_recorded;
}

}  // namespace cmdq::checks

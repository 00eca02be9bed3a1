// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>

namespace cmdq::checks {

inline constexpr std::uint64_t not_recorded = ~std::uint64_t{0};

/// How many executions the search of this scenario, with its own schedule and bound, was found to have. A search that
/// counts anything else fails: its state space has changed, which somebody has to explain.
std::uint64_t recorded_count(std::string_view scenario);
/// The same for the explorer's searches.
std::uint64_t recorded_exhaust_count(std::string_view scenario);

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
// What is known about the mutants of the table of orderings, for each of those who use a row.
#pragma once

#include "../support/orders.hpp"

#include <span>
#include <string>
#include <string_view>

namespace cmdq::checks {

/// Who uses a row: a strategy (in groups or not) with a way of completion or reclaim, or what is explored without a
/// queue ("parts"). Told from a scenario's name.
std::string user_of(std::string_view scenario);

/// The scenario that rejects a mutant there, as `cmdq-check orderings --search --record` found it.
struct rejection {
  const char* row;
  const char* weaker;
  const char* user;
  const char* scenario;
};
std::span<const rejection> known_rejections();

/// Why a mutant is not rejected: the order is not needed there, or what needs it lies outside of what Relacy executes.
struct explanation {
  mutant of;
  const char* users;  ///< all whose names contain this
  const char* reason;
};
std::span<const explanation> known_explanations();

}  // namespace cmdq::checks

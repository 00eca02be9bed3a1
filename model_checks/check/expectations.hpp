// SPDX-License-Identifier: BSL-1.0
// What is known about the mutants of the table of orderings.
#pragma once

#include "../support/orders.hpp"

#include <span>

namespace cmdq::checks {

/// The scenario that rejects a mutant; it is tried first.
struct rejection {
  mutant of;
  const char* scenario;
};
std::span<const rejection> known_rejections();

/// Why no scenario can reject a mutant: what the order is for lies outside the C++ memory model.
struct explanation {
  mutant of;
  const char* reason;
};
std::span<const explanation> known_explanations();

}  // namespace cmdq::checks

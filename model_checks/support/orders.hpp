// SPDX-License-Identifier: BSL-1.0
// The table of orderings as a run-time copy in which one row may be weakened by one step, and counts of how often each
// row was used. One process checks one mutant.
#pragma once

#include <cmdq/platform/orderings.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cmdq::checks {

inline constexpr std::size_t site_count = static_cast<std::size_t>(site::count);

/// The orders in force in this process and how often each site was passed.
struct order_state {
  std::array<order, site_count> orders{};
  std::array<std::uint64_t, site_count> uses{};
  order_state();
};
extern order_state orders_in_force;

inline order order_now(site s) {
  const auto i = static_cast<std::size_t>(s);
  ++orders_in_force.uses[i];
  return orders_in_force.orders[i];
}

/// One row made one step weaker.
struct mutant {
  site row;
  order weaker;
};

const char* name(order o);
const char* name(site s);
std::optional<order> order_from(const std::string& text);
std::optional<site> site_from(const std::string& text);

/// "valid_mark=relaxed"
std::string to_string(const mutant& m);
std::optional<mutant> mutant_from(const std::string& text);

/// What one step weaker means: acq_rel gives two mutants, relaxed none.
std::vector<order> one_step_weaker(order o);
/// Every mutant of the table, in its order.
std::vector<mutant> all_mutants();
void apply(const mutant& m);

}  // namespace cmdq::checks

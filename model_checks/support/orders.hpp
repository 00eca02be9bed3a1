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

/// How a wrong variant breaks what happens at one site. skipped: the access is left out. lost_update: a
/// read-modify-write is torn into a load and a store. zeroed: a load reads 0, an "and" leaves nothing. ones: a load
/// reads all ones. ahead: a compare-exchange writes 1 more. carry: an addition's carry comes in again at bit 0. kept:
/// an "and" leaves everything; other accesses at the site are as they should be.
enum class fault : std::uint8_t { none, skipped, lost_update, zeroed, ones, ahead, carry, kept };
struct sabotage {
  site at = site::count;
  fault how = fault::none;
};
extern sabotage sabotage_in_force;
inline bool any_broken(site s) { return sabotage_in_force.at == s; }
inline bool broken(site s, fault how) { return sabotage_in_force.at == s && sabotage_in_force.how == how; }

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

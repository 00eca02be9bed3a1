// SPDX-License-Identifier: BSL-1.0
#include "orders.hpp"

namespace cmdq::checks {

order_state::order_state() {
  for (std::size_t i = 0; i < site_count; ++i) orders[i] = ordering_table[i].required;
}

order_state orders_in_force;
sabotage sabotage_in_force;

const char* name(order o) {
  switch (o) {
    case order::relaxed:
      return "relaxed";
    case order::acquire:
      return "acquire";
    case order::release:
      return "release";
    case order::acq_rel:
      return "acq_rel";
    default:
      return "seq_cst";
  }
}

const char* name(site s) { return ordering_table[static_cast<std::size_t>(s)].name; }

std::optional<order> order_from(const std::string& text) {
  for (const order o : {order::relaxed, order::acquire, order::release, order::acq_rel, order::seq_cst}) {
    if (text == name(o)) return o;
  }
  return std::nullopt;
}

std::optional<site> site_from(const std::string& text) {
  for (std::size_t i = 0; i < site_count; ++i) {
    if (text == ordering_table[i].name) return static_cast<site>(i);
  }
  return std::nullopt;
}

std::string to_string(const mutant& m) { return std::string(name(m.row)) + "=" + name(m.weaker); }

std::optional<mutant> mutant_from(const std::string& text) {
  const std::size_t split = text.find('=');
  if (split == std::string::npos) return std::nullopt;
  const auto row = site_from(text.substr(0, split));
  const auto weaker = order_from(text.substr(split + 1));
  if (!row || !weaker) return std::nullopt;
  return mutant{*row, *weaker};
}

std::vector<order> one_step_weaker(order o) {
  switch (o) {
    case order::relaxed:
      return {};
    case order::acquire:
    case order::release:
      return {order::relaxed};
    case order::acq_rel:
      return {order::acquire, order::release};
    default:
      return {order::acq_rel};
  }
}

std::vector<mutant> all_mutants() {
  std::vector<mutant> all;
  for (std::size_t i = 0; i < site_count; ++i) {
    for (const order weaker : one_step_weaker(ordering_table[i].required))
      all.push_back({static_cast<site>(i), weaker});
  }
  return all;
}

void apply(const mutant& m) { orders_in_force.orders[static_cast<std::size_t>(m.row)] = m.weaker; }

}  // namespace cmdq::checks

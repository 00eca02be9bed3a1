// SPDX-License-Identifier: BSL-1.0
#include "reproduce/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "calibrate.hpp"
#include "errors.hpp"

namespace cmdq::cli {

namespace {

const std::string machine_prefix = "machine.";

struct moved {
  double value = 0;
  double most = 0;  ///< largest relative change of a figure
  std::string figure{};
  unsigned beat_nulls = 0;
};

moved compare(const reproduction& before, const reproduction& after, double value) {
  moved m{.value = value, .beat_nulls = after.beat_nulls()};
  for (std::size_t i = 0; i < std::min(before.figures.size(), after.figures.size()); ++i) {
    const double old = before.figures[i].ours;
    const double change = std::abs(after.figures[i].ours - old) / std::max(std::abs(old), 1e-12);
    if (change <= m.most) continue;
    m.most = change;
    m.figure = before.figures[i].name;
  }
  return m;
}

std::vector<double> around(double value, double least, double most, bool whole) {
  std::vector<double> out;
  for (const double factor : {1 / std::sqrt(2.0), std::sqrt(2.0)}) {
    double v = std::clamp(value * factor, least, most);
    if (whole) v = factor < 1 ? std::floor(v) : std::ceil(v);
    if (v >= least && v <= most && std::abs(v - value) > 1e-12) out.push_back(v);
  }
  return out;
}

void add_row(reproduction& to, std::vector<std::vector<std::string>>& rows, const std::string& name, double from,
             const std::vector<moved>& all) {
  nlohmann::ordered_json j = {{"parameter", name}, {"value", from}};
  for (const moved& m : all) {
    j["varied"].push_back(
        {{"value", m.value}, {"largest_change", m.most}, {"figure", m.figure}, {"beat_nulls", m.beat_nulls}});
    rows.push_back({name, fmt::format("{:.4g} -> {:.4g}", from, m.value), fmt::format("{:.1f} %", 100 * m.most),
                    m.most == 0 ? "nothing moves" : m.figure, fmt::format("{}", m.beat_nulls)});
  }
  to.json["sensitivity"].push_back(j);
}

}  // namespace

void set_parameter(reproduce_input& in, const std::string& assignment) {
  if (!assignment.starts_with(machine_prefix)) return in.p.set(assignment);
  const auto equals = std::min(assignment.find('='), assignment.size());
  const std::string name = assignment.substr(machine_prefix.size(), equals - machine_prefix.size());
  const std::string text = assignment.substr(std::min(equals + 1, assignment.size()));
  std::string known;
  for (const manycore::free_parameter& f : manycore::free_parameters()) {
    known += fmt::format("{}{}{}", known.empty() ? "" : ", ", machine_prefix, f.name);
    if (name != f.name) continue;
    double ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error != std::errc{} || end != text.data() + text.size() || !(ns >= f.least_ns && ns <= f.most_ns))
      throw input_error(
          fmt::format("--set {}: must be a number of ns from {} to {}", assignment, f.least_ns, f.most_ns));
    f.in(in.machine) = static_cast<manycore::picoseconds>(std::llround(ns * 1000));
    return;
  }
  throw input_error(
      fmt::format("--set {}: of the machine there are {}; --machine takes a whole one", assignment, known));
}

void add_sensitivity(reproduction& as_is, const section_run& run, const reproduce_input& in,
                     const std::vector<std::string>& prefixes) {
  const auto belongs = [&](const std::string& name) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& p) { return name.starts_with(p); });
  };
  reproduce_input base = in;
  base.figures_only = true;
  for (const auto& [name, value] : as_is.fits) base.p.set(fmt::format("{}={}", name, value));
  const reproduction before = run(base);
  std::vector<std::vector<std::string>> rows = {{"parameter", "varied", "largest change", "of", "beat nulls"}};
  for (std::size_t i = 0; i < base.p.all().size(); ++i) {
    const parameter& p = base.p.all()[i];
    if (!belongs(p.name)) continue;
    std::vector<moved> all;
    for (const double v : around(p.value, p.least, p.most, p.whole)) {
      reproduce_input changed = base;
      changed.p.set(i, v);
      all.push_back(compare(before, run(changed), v));
    }
    add_row(as_is, rows, p.name, p.value, all);
  }
  for (const manycore::free_parameter& f : manycore::free_parameters()) {
    if (!belongs(machine_prefix)) break;
    std::vector<moved> all;
    const double ns = static_cast<double>(f.in(base.machine)) / 1000;
    for (const double v : around(ns, f.least_ns, f.most_ns, false)) {
      reproduce_input changed = base;
      f.in(changed.machine) = static_cast<manycore::picoseconds>(std::llround(v * 1000));
      all.push_back(compare(before, run(changed), v));
    }
    add_row(as_is, rows, machine_prefix + f.name, ns, all);
  }
  add_paragraph(as_is, "Each parameter over a factor of two, nothing fitted again:");
  add_table(as_is, rows);
}

}  // namespace cmdq::cli

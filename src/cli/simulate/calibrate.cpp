// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate calibrate`: fits the machine's free parameters to the fitted points, and says how far it is off on
// those and on the held-out ones.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "calibrate.hpp"
#include "commands.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

struct calibrate_arguments {
  std::string topology = "arm-server-128";
  std::vector<unsigned> tries = {16, 32, 64, 128};
  bool check = false;
  std::string json;
  std::string write;
};

/// What the shipped topology must keep to.
constexpr double most_fitted_error = 0.10;
constexpr double most_error_at_64 = 0.10;
constexpr double most_error_at_128 = 0.25;

double limit_of(const compared_point& p) {
  if (p.kind == use::fitted) return most_fitted_error;
  return p.what.find("128") == std::string::npos ? most_error_at_64 : most_error_at_128;
}

/// Prints one group of points; returns how many are out of their limit.
unsigned report(const char* title, const std::vector<compared_point>& points, nlohmann::ordered_json& json) {
  unsigned out = 0;
  fmt::print("{}\n", title);
  for (const auto& p : points) {
    const bool bad = std::abs(p.relative_error()) > limit_of(p);
    out += bad ? 1 : 0;
    fmt::print("  {:<46} published {:>8.0f}  simulated {:>8.0f}  {:>+6.1f} % (limit {:.0f} %){}\n", p.what, p.published,
               p.simulated, 100 * p.relative_error(), 100 * limit_of(p), bad ? "  OUT OF LIMIT" : "");
    json.push_back({{"point", p.what},
                    {"kind", p.kind == use::fitted ? "fitted" : "predicted"},
                    {"published", p.published},
                    {"simulated", p.simulated},
                    {"relative_error", p.relative_error()}});
  }
  return out;
}

void print_parameters(const topology& t) {
  topology copy = t;
  fmt::print("Parameters (near_first {})\n", t.near_first);
  for (const auto& f : free_parameters())
    fmt::print("  {:<22} {:>7.1f} (bounds {} to {})\n", f.name, static_cast<double>(f.in(copy)) / 1000, f.least_ns,
               f.most_ns);
  fmt::print("  {:<22} {:>7.1f} (follows from die and socket)\n", "distance_ns.remote",
             static_cast<double>(t.distance.remote) / 1000);
}

void run(const calibrate_arguments& a) {
  topology t = load_topology(a.topology);
  if (!a.check) {
    fmt::print("Nelder-Mead on the fitted points only\n");
    const auto found = calibrate(t, a.tries, [](const calibration& c) {
      fmt::print("  near_first {:>3}: root mean square of the logarithmic errors {:.4f}\n", c.best.near_first, c.error);
    });
    t = found.best;
    fmt::print("{} evaluations\n", found.evaluations);
  }
  print_parameters(t);
  nlohmann::ordered_json json = {{"parameters", to_json(t)}, {"points", nlohmann::ordered_json::array()}};
  unsigned out = report("Fitted", compare(t, use::fitted), json["points"]);
  out += report("Held out", compare(t, use::predicted), json["points"]);
  const auto write = [](const std::string& path, const nlohmann::ordered_json& j) {
    std::ofstream file(path);
    file << j.dump(2) << '\n';
    if (!file.flush()) throw input_error(fmt::format("{}: cannot be written", path));
  };
  if (!a.json.empty()) write(a.json, json);
  if (!a.write.empty()) write(a.write, to_json(t));
  if (out != 0) throw check_error(fmt::format("{} of the points are out of their limit", out));
}

}  // namespace

void add_simulate_calibrate(CLI::App& simulate) {
  CLI::App* command = simulate.add_subcommand("calibrate", "Fit the simulated machine to the published points");
  auto a = std::make_shared<calibrate_arguments>();
  command->add_option("--topology", a->topology, "Where to start: a shipped machine or a JSON file")
      ->capture_default_str();
  command->add_option("--near-first", a->tries, "Values of near_first to try, a list")
      ->delimiter(',')
      ->capture_default_str();
  command->add_flag("--check", a->check, "Fit nothing: only compare the topology as it is");
  command->add_option("--json", a->json, "Write parameters and errors to this file");
  command->add_option("--write-topology", a->write, "Write the fitted topology to this file");
  command->callback([a] { run(*a); });
}

}  // namespace cmdq::cli

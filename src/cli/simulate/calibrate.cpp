// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate calibrate`: fits the machine's free parameters to the fitted points, and says how far it is off on
// those and on the held-out ones.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "calibrate.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
#include "simulate/topology_file.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

struct calibrate_arguments {
  std::string topology = "arm-server-128";
  std::vector<std::uint32_t> tries = {16, 32, 64, 128};
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
unsigned report(const char* title, const std::vector<compared_point>& points, results& to) {
  unsigned out = 0;
  to.say(fmt::format("{}\n", title));
  for (const auto& p : points) {
    const bool bad = std::abs(p.relative_error()) > limit_of(p);
    out += bad ? 1 : 0;
    to.say(fmt::format("  {:<46} published {:>8.0f}  simulated {:>8.0f}  {:>+6.1f} % (limit {:.0f} %){}\n", p.what,
                       p.published, p.simulated, 100 * p.relative_error(), 100 * limit_of(p),
                       bad ? "  OUT OF LIMIT" : ""));
    to.add([&](auto& j) {
      j["points"].push_back({{"point", p.what},
                             {"kind", p.kind == use::fitted ? "fitted" : "predicted"},
                             {"published", p.published},
                             {"simulated", p.simulated},
                             {"relative_error", p.relative_error()}});
    });
  }
  return out;
}

std::string parameters(const topology& t) {
  topology copy = t;
  std::string out = fmt::format("Parameters (near_first {})\n", t.near_first);
  for (const auto& f : free_parameters())
    out += fmt::format("  {:<22} {:>7.1f} (bounds {} to {})\n", f.name, static_cast<double>(f.in(copy)) / 1000,
                       f.least_ns, f.most_ns);
  return out + fmt::format("  {:<22} {:>7.1f} (follows from die and socket)\n", "distance_ns.remote",
                           static_cast<double>(t.distance.remote) / 1000);
}

void run(const calibrate_arguments& a) {
  topology t = read_topology(a.topology);
  results out(a.json);
  output_file fitted("--write-topology", a.write);
  progress line(a.check ? 2 : a.tries.size() + 2);
  if (!a.check) {
    out.say("Nelder-Mead on the fitted points only\n");
    line.step("fitting");
    const auto found = calibrate(t, a.tries, [&](const calibration& c) {
      out.say(fmt::format("  near_first {:>3}: root mean square of the logarithmic errors {:.4f}\n", c.best.near_first,
                          c.error));
      line.step("fitting");
    });
    t = found.best;
    out.say(fmt::format("{} evaluations\n", found.evaluations));
  }
  out.say(parameters(t));
  out.add([&](auto& j) {
    j["parameters"] = to_json(t);
    j["points"] = nlohmann::ordered_json::array();
  });
  line.step("fitted points");
  unsigned wrong = report("Fitted", compare(t, use::fitted), out);
  line.step("held-out points");
  wrong += report("Held out", compare(t, use::predicted), out);
  out.finish();
  if (fitted.wanted()) fitted.write(to_json(t).dump(2) + "\n");
  if (wrong != 0) throw check_error(fmt::format("{} of the points are out of their limit", wrong));
}

}  // namespace

void add_simulate_calibrate(arguments& simulate) {
  arguments command = simulate.add("calibrate", "Fit the simulated machine to the published points");
  auto a = std::make_shared<calibrate_arguments>();
  command.text("--topology", a->topology, "Where to start: a shipped machine or a JSON file");
  command.numbers("--near-first", a->tries, 0, 1000, "Values of near_first to try");
  command.flag("--check", a->check, "Fit nothing: only compare the topology as it is");
  command.json(a->json);
  command.text("--write-topology", a->write, "Write the fitted topology to this file");
  command.runs([a] { run(*a); });
}

}  // namespace cmdq::cli

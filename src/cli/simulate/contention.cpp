// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate contention`: many CPUs and one queue on a simulated machine of the user's choice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.hpp"
#include "errors.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
#include "simulate/topology_file.hpp"
#include "strategies.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

struct contention_arguments {
  std::string topology = "arm-server-128";
  std::vector<unsigned> cpus;
  std::vector<std::string> strategies = compared_strategies();
  std::vector<std::string> completions = {"msi"};
  std::string polls;
  unsigned list_length = 1;
  double think_ns = -1;
  double time_ns = 1'000'000;
  std::uint64_t seed = 1;
  unsigned log2_size = 15;
  unsigned cpus_per_group = 0;
  std::string json;
  std::string trace;
};

picoseconds to_ps(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }

nlohmann::ordered_json site_json(const contention_result& r) {
  auto out = nlohmann::ordered_json::array();
  for (unsigned s = 0; s < all_sites; ++s) {
    const auto& c = r.sites[s];
    if (c.accesses == 0 && c.moving == 0) continue;
    out.push_back({{"site", site_name(s)},
                   {"accesses", c.accesses},
                   {"transfers", c.transfers},
                   {"failed", c.failed},
                   {"queued_ns", c.queued / 1000},
                   {"moving_ns", c.moving / 1000},
                   {"asleep_ns", c.asleep / 1000}});
  }
  return out;
}

/// The ten lines that cost most.
nlohmann::ordered_json line_json(const contention_result& r) {
  std::vector<std::size_t> order(r.lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return r.lines[a].queued > r.lines[b].queued; });
  auto out = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min<std::size_t>(10, order.size()); ++i) {
    const auto& l = r.lines[order[i]];
    out.push_back({{"line", order[i]},
                   {"first_site", site_name(l.first_site)},
                   {"transfers", l.transfers},
                   {"failed", l.failed},
                   {"queued_ns", l.queued / 1000}});
  }
  return out;
}

nlohmann::ordered_json to_json(const contention_result& r, const std::string& strategy, const std::string& completion,
                               picoseconds poll) {
  nlohmann::ordered_json j = {{"cpus", r.cpus},
                              {"strategy", strategy},
                              {"completion", completion},
                              {"poll_ns", static_cast<double>(poll) / 1000},
                              {"per_cpu_per_second", r.per_cpu_per_second},
                              {"fairness", r.fairness},
                              {"syncs_per_list", r.syncs_per_list},
                              {"entries_per_prod_write", r.entries_per_prod_write},
                              {"cons_reads_per_list", r.cons_reads_per_list},
                              {"uncached_reads_per_list", r.uncached_reads_per_list},
                              {"device_busy", r.device_busy},
                              {"latency_ns", r.latency_ns},
                              {"longest_ns", r.longest_ns},
                              {"attempts_per_claim", 1 / r.claims_that_succeed}};
  const auto lists = static_cast<double>(std::max<std::uint64_t>(r.lists, 1));
  for (unsigned p = 0; p < phases; ++p)
    j["ns_per_list"][phase_name(static_cast<phase>(p))] = static_cast<double>(r.phase_time[p]) / lists / 1000;
  j["sites"] = site_json(r);
  j["lines"] = line_json(r);
  return j;
}

void check(const contention_arguments& a, const topology& t) {
  for (const unsigned c : a.cpus)
    if (c < 1 || c > t.cpus())
      throw input_error(fmt::format("--cpus {}: the topology \"{}\" has 1 to {} CPUs", c, t.name, t.cpus()));
}

nlohmann::ordered_json refused_json(const std::string& strategy, const std::string& completion, unsigned cpus,
                                    picoseconds poll, const std::string& why) {
  return {{"cpus", cpus},
          {"strategy", strategy},
          {"completion", completion},
          {"poll_ns", static_cast<double>(poll) / 1000},
          {"refused", why}};
}

std::string row_text(const contention_result& r) {
  return fmt::format("{:>12.0f} {:>9.2f} {:>10.3f} {:>10.3f} {:>8.0f}% {:>11.0f} {:>12.0f} {:>9.1f}",
                     r.per_cpu_per_second, r.fairness, r.syncs_per_list, r.uncached_reads_per_list, 100 * r.device_busy,
                     r.latency_ns, r.longest_ns, 1 / r.claims_that_succeed);
}

/// One time per value of --poll-ns; the topology's own without.
std::vector<picoseconds> polls_of(const std::string& list, const topology& t) {
  if (list.empty()) return {t.poll};
  std::vector<picoseconds> out;
  std::istringstream values(list);
  for (std::string p; std::getline(values, p, ',');) {
    char* end = nullptr;
    const double ns = p == "none" ? 0 : std::strtod(p.c_str(), &end);
    if ((end != nullptr && (*end != 0 || end == p.c_str())) || !(ns == 0 || (ns >= 1 && ns <= 1e6)))
      throw input_error(fmt::format("--poll-ns {}: must be \"none\", 0, or from 1 to 1e6 nanoseconds", printable(p)));
    out.push_back(to_ps(ns));
  }
  return out;
}

contention_options options_of(const contention_arguments& a, const topology& t) {
  contention_options o;
  o.list_length = a.list_length;
  o.think = a.think_ns < 0 ? t.think : to_ps(a.think_ns);
  o.time = to_ps(a.time_ns);
  o.warm_up = o.time / 5;
  o.seed = a.seed;
  o.log2_size = a.log2_size;
  o.cpus_per_group = a.cpus_per_group;
  return o;
}

void run(contention_arguments a) {
  topology t = read_topology(a.topology);
  const auto polls = polls_of(a.polls, t);
  if (a.cpus.empty())
    for (unsigned c = 1; c <= t.cpus(); c *= 2) a.cpus.push_back(c);
  check(a, t);
  contention_options o = options_of(a, t);
  std::vector<span> spans;
  if (!a.trace.empty()) o.spans = &spans;
  results out(a.json);
  output_file trace("--trace", a.trace);
  out.add([&](auto& j) {
    j["topology"] = to_json(t);
    j["rows"] = nlohmann::ordered_json::array();
  });
  out.say(fmt::format("{:>5} {:<22} {:<5} {:>6} {:>12} {:>9} {:>10} {:>10} {:>9} {:>11} {:>12} {:>9}\n", "CPUs",
                      "strategy", "done", "poll", "per CPU/s", "fairness", "syncs/list", "reads/list", "device",
                      "latency ns", "longest ns", "attempts"));
  contention_result last;
  unsigned refused = 0;
  progress line(a.strategies.size() * a.completions.size() * polls.size() * a.cpus.size());
  const auto one = [&](const std::string& s, const std::string& c, unsigned cpus) {
    line.step(fmt::format("{} {} {} CPUs", s, c, cpus));
    o.cpus = cpus;
    spans.clear();
    std::string text;
    try {
      last = run_contention(s, c, t, o);
      text = row_text(last);
      out.add([&](auto& j) { j["rows"].push_back(to_json(last, s, c, t.poll)); });
    } catch (const std::invalid_argument& e) {
      ++refused;
      text = fmt::format("refused: {}", e.what());
      out.add([&](auto& j) { j["rows"].push_back(refused_json(s, c, cpus, t.poll, e.what())); });
    }
    out.say(fmt::format("{:>5} {:<22} {:<5} {:>6} {}\n", cpus, s, c,
                        t.poll == 0 ? "none" : fmt::format("{:g}", static_cast<double>(t.poll) / 1000), text));
  };
  for (const auto& s : a.strategies)
    for (const auto& c : a.completions)
      for (const picoseconds poll : polls) {
        t.poll = poll;
        for (const unsigned cpus : a.cpus) one(s, c, cpus);
      }
  out.finish();
  if (trace.wanted()) trace.write(chrome_trace(spans, last.actors));
  if (refused != 0) throw input_error(fmt::format("{} runs were refused; the reasons are in their rows", refused));
}

}  // namespace

void add_simulate_contention(arguments& simulate) {
  arguments command = simulate.add("contention", "Many CPUs and one queue on a simulated machine");
  auto a = std::make_shared<contention_arguments>();
  command.text("--topology", a->topology, "A shipped machine (arm-server-128, server-64, soc-8) or a JSON file");
  command.numbers("--cpus", a->cpus, 1, max_cpus, "CPUs to use; default 1, 2, 4 and so on up to all");
  command.choices("--strategy", a->strategies, strategy_names(), "Strategies");
  command.choices("--completion", a->completions, completions(), "Completion modes");
  command.text(
      "--poll-ns", a->polls,
      "Time from one poll of a cached word to the next, ns, or several; none or 0: waiters never poll. Default: "
      "the topology's");
  command.number("--list-length", a->list_length, 1, max_batch, "Commands per list, besides its CMD_SYNC");
  command.number("--think", a->think_ns, 0, 1e9, "Other work between two lists, ns; default: the topology's");
  command.number("--time", a->time_ns, 1000, 1e10, "Simulated time, ns, after a fifth of it as warm-up");
  command.number("--seed", a->seed, 0, ~std::uint64_t{0}, "Seed of all that is random");
  command.number("--log2-size", a->log2_size, min_log2_size, 16, "Ring of 2^N entries");
  command.number("--cpus-per-group", a->cpus_per_group, 0, max_cpus,
                 "CPUs that gather on their own first (combining); 0: as the library chooses");
  command.json(a->json);
  command.text("--trace", a->trace, "Write the last run in Chrome trace format to this file");
  command.runs([a] { run(*a); });
}

}  // namespace cmdq::cli

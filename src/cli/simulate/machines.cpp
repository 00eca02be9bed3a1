// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate machines`: the comparison on many machines that all meet the published figures, as a distribution.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands.hpp"
#include "comparison_set.hpp"
#include "errors.hpp"
#include "output/chart.hpp"
#include "output/input_file.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
#include "simulate/topology_file.hpp"
#include "uncertainty.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;
using json = nlohmann::ordered_json;

struct machines_arguments {
  std::string topology = "arm-server-128";
  unsigned keep = 200;
  std::string within = "15%";
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::string json;
  std::string html;
  std::string check;
  unsigned machines = 2;
};

/// How far a rerun may be from what is recorded: the file is stale if it is farther.
constexpr double most_difference = 0.02;

double percent(const std::string& text) {
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || (*end != 0 && std::string(end) != "%") || !(v > 0 && v <= 100))
    throw input_error(fmt::format("--within {}: must be a percentage from above 0 to 100, such as 15 or 15%", text));
  return v / 100;
}

double rounded(double v) { return std::round(v * 10000) / 10000; }

double ns(picoseconds t) { return static_cast<double>(t) / 1000; }

json key_json(const ratio_key& k, const topology& base) {
  return {{"strategy", k.strategy}, {"over", k.over},
          {"cpus", k.where.cpus},   {"sync_ns", ns(k.where.sync == 0 ? base.device.sync : k.where.sync)},
          {"list", k.where.list},   {"poll_ns", ns(k.where.poll)}};
}

std::string sync_name(picoseconds sync) { return sync == 0 ? "own" : fmt::format("{:g} us", ns(sync) / 1000); }
std::string poll_name(picoseconds poll) { return poll == 0 ? "none" : fmt::format("{:g}", ns(poll)); }

struct spread {
  double p5, p50, p95;
};
spread spread_of(const std::vector<std::vector<double>>& all, std::size_t ratio) {
  std::vector<double> values;
  for (const auto& of_machine : all) values.push_back(of_machine[ratio]);
  return {quantile(values, 0.05), quantile(values, 0.5), quantile(values, 0.95)};
}

std::string parameters_text(const topology& base, const std::vector<kept_machine>& kept, json& out) {
  std::string text;
  text += fmt::format("{} machines kept; each parameter over the base machine's:\n{:<26} {:>9} {:>7} {:>7} {:>7}\n",
                      kept.size(), "parameter", "base", "p5", "median", "p95");
  for (const auto& p : uncertain_parameters()) {
    if (p.get(base) == 0) continue;
    std::vector<double> factors;
    for (const auto& k : kept) factors.push_back(p.get(k.machine) / p.get(base));
    const spread s{quantile(factors, 0.05), quantile(factors, 0.5), quantile(factors, 0.95)};
    const double shown = std::string(p.name).find("_ns") == std::string::npos ? p.get(base) : p.get(base) / 1000;
    text += fmt::format("{:<26} {:>9.1f} {:>7.2f} {:>7.2f} {:>7.2f}\n", p.name, shown, s.p5, s.p50, s.p95);
    out.push_back({{"parameter", p.name}, {"p5", rounded(s.p5)}, {"p50", rounded(s.p50)}, {"p95", rounded(s.p95)}});
  }
  const auto ahead =
      std::count_if(kept.begin(), kept.end(), [](const auto& k) { return k.machine.device.fetch_ahead; });
  return text + fmt::format("with a device that fetches ahead: {} of {}\n\n", ahead, kept.size());
}

/// For each strategy over each other: median and the middle nine tenths against the number of CPUs.
std::string charts(const std::vector<ratio_key>& keys, const std::vector<spread>& spreads, picoseconds poll) {
  std::string out;
  std::vector<std::string> done;
  for (const auto& k : keys) {
    if (k.where.cpus < 32 || std::find(done.begin(), done.end(), k.strategy + k.over) != done.end()) continue;
    done.push_back(k.strategy + k.over);
    chart_line median{"median", {}};
    chart_line low{"5th percentile", {}, true};
    chart_line high{"95th percentile", {}, true};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto& [strategy, over, where] = keys[i];
      if (strategy != k.strategy || over != k.over || where.sync != 0 || where.list != 1 || where.poll != poll)
        continue;
      median.points.emplace_back(where.cpus, spreads[i].p50);
      low.points.emplace_back(where.cpus, spreads[i].p5);
      high.points.emplace_back(where.cpus, spreads[i].p95);
    }
    for (auto* l : {&median, &low, &high}) std::sort(l->points.begin(), l->points.end());
    out += line_chart({fmt::format("{} over {}, polls of {} ns", k.strategy, k.over, poll_name(poll)), "CPUs",
                       "times as many lists", true, false},
                      {median, low, high});
  }
  return out;
}

/// One line per machine and per ratio, so that a change of the file can be read.
std::string as_lines(const json& j) {
  std::string out = "{\n";
  for (auto it = j.begin(); it != j.end(); ++it) {
    out += it == j.begin() ? "" : ",\n";
    out += json(it.key()).dump() + ": ";
    if (!it->is_array()) {
      out += it->dump();
      continue;
    }
    out += "[";
    for (std::size_t i = 0; i < it->size(); ++i) out += (i == 0 ? "\n  " : ",\n  ") + (*it)[i].dump();
    out += "\n]";
  }
  return out + "\n}\n";
}

json machine_json(const topology& t) {
  json j;
  for (const auto& p : uncertain_parameters()) j[p.name] = p.get(t);
  j["fetch_ahead"] = t.device.fetch_ahead;
  return j;
}

topology machine_from(const topology& base, const json& j, const std::string& file) {
  topology t = base;
  try {
    for (const auto& p : uncertain_parameters()) p.set(t, j.at(p.name).get<double>());
    t.device.fetch_ahead = j.at("fetch_ahead").get<unsigned>();
  } catch (const json::exception& e) {
    throw input_error(fmt::format("{}: a machine's parameters cannot be read: {}", file, e.what()));
  }
  return t;
}

unsigned threads_of(const machines_arguments& a) {
  return a.threads != 0 ? a.threads : std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::vector<double>> compare_all(const std::vector<kept_machine>& kept, unsigned threads, progress& line) {
  std::vector<std::vector<double>> all(kept.size());
  line.step("comparing");
  std::atomic<unsigned> done{0};
  in_parallel(threads, kept.size(), [&](std::size_t i) {
    all[i] = ratios_on(kept[i].machine);
    line.part(++done, kept.size());
  });
  return all;
}

json machines_json(const std::vector<kept_machine>& kept, const std::vector<std::vector<double>>& all) {
  json out = json::array();
  for (std::size_t m = 0; m < kept.size(); ++m) {
    json j = {{"parameters", machine_json(kept[m].machine)}};
    for (const double f : kept[m].figures) j["figures"].push_back(rounded(f));
    for (const double v : all[m]) j["ratios"].push_back(rounded(v));
    out.push_back(j);
  }
  return out;
}

void run(const machines_arguments& a) {
  const topology base = read_topology(a.topology);
  draw_options o;
  o.keep = a.keep;
  o.within = percent(a.within);
  o.seed = a.seed;
  o.threads = threads_of(a);
  const bool json_only = a.json == "-";
  output_file json_file("--json", json_only ? "" : a.json);
  output_file html_file("--html", a.html);
  progress line(2);
  line.step("machines kept");
  o.progress = [&](unsigned kept) { line.part(kept, a.keep); };
  std::vector<kept_machine> kept;
  try {
    kept = draw_machines(base, o);
  } catch (const std::invalid_argument& e) {
    throw input_error(fmt::format("--topology {}: {}", printable(a.topology), e.what()));
  }
  const auto all = compare_all(kept, o.threads, line);
  json out = {{"complete", true}, {"base", to_json(base)}, {"keep", a.keep}, {"within", o.within}, {"seed", a.seed}};
  out["parameters"] = json::array();
  std::string text = parameters_text(base, kept, out["parameters"]);
  out["machines"] = machines_json(kept, all);
  out["ratios"] = json::array();
  text += fmt::format("{:<14} {:<24} {:>5} {:>9} {:>5} {:>5} {:>7} {:>7} {:>7}\n", "strategy", "over", "CPUs", "sync",
                      "list", "poll", "p5", "median", "p95");
  const auto keys = ratio_keys();
  std::vector<spread> spreads;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& k = keys[i];
    const spread s = spreads.emplace_back(spread_of(all, i));
    json j = key_json(k, base);
    j["p5"] = rounded(s.p5);
    j["p50"] = rounded(s.p50);
    j["p95"] = rounded(s.p95);
    out["ratios"].push_back(j);
    text +=
        fmt::format("{:<14} {:<24} {:>5} {:>9} {:>5} {:>5} {:>7.2f} {:>7.2f} {:>7.2f}\n", k.strategy, k.over,
                    k.where.cpus, sync_name(k.where.sync), k.where.list, poll_name(k.where.poll), s.p5, s.p50, s.p95);
  }
  say(json_only ? as_lines(out) : text);
  if (json_file.wanted()) json_file.write(as_lines(out));
  if (!html_file.wanted()) return;
  std::string page = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><title>{0} machines</title><p>{0} machines that give all published "
      "figures within {1:g} %, nothing else fitted.</p>\n",
      kept.size(), 100 * o.within);
  for (const picoseconds poll : {picoseconds{10'000}, picoseconds{0}}) page += charts(keys, spreads, poll);
  html_file.write(page);
}

/// Reruns some machines of a result file.
void check(const machines_arguments& a) {
  json recorded;
  try {
    recorded = json::parse(read_input(a.check));
    static_cast<void>(recorded.at("base").at("name"));
    if (recorded.at("machines").empty()) throw input_error(fmt::format("{}: has no machines", a.check));
  } catch (const json::exception& e) {
    throw input_error(fmt::format("{}: not a result of simulate machines: {}", a.check, e.what()));
  }
  const topology base = parse_topology(recorded["base"].dump(), a.check);
  const auto keys = ratio_keys();
  const auto& machines = recorded["machines"];
  const auto some = std::min<std::size_t>(a.machines, machines.size());
  std::vector<kept_machine> again;
  std::vector<json> before;
  for (std::size_t i = 0; i < some; ++i) {
    const auto& m = machines[i * machines.size() / some];
    again.push_back({machine_from(base, m.at("parameters"), a.check), {}});
    before.push_back(m.at("ratios"));
    if (before.back().size() != keys.size())
      throw check_error(fmt::format("{}: a machine has {} ratios, the comparison has {} by now: run it again", a.check,
                                    before.back().size(), keys.size()));
  }
  progress line(1);
  const auto now = compare_all(again, threads_of(a), line);
  unsigned off = 0;
  std::string text;
  double worst = 0;
  for (std::size_t m = 0; m < some; ++m)
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const double difference = now[m][i] / before[m][i].get<double>() - 1;
      worst = std::max(worst, std::abs(difference));
      if (std::abs(difference) <= most_difference) continue;
      ++off;
      text += fmt::format("machine {}, {} over {}, {} CPUs, sync {}, list {}, poll {}: recorded {:.3f}, now {:.3f}\n",
                          m * machines.size() / some, keys[i].strategy, keys[i].over, keys[i].where.cpus,
                          sync_name(keys[i].where.sync), keys[i].where.list, poll_name(keys[i].where.poll),
                          before[m][i].get<double>(), now[m][i]);
    }
  text += fmt::format("{} machines of {}, {} ratios each: at most {:.2f} % off (limit {:.0f} %)\n", some, a.check,
                      keys.size(), 100 * worst, 100 * most_difference);
  say(text);
  if (off != 0) throw check_error(fmt::format("{}: {} ratios are not what they were: run it again", a.check, off));
}

}  // namespace

void add_simulate_machines(arguments& simulate) {
  arguments command = simulate.add("machines", "The comparison on many machines that all meet the published figures");
  auto a = std::make_shared<machines_arguments>();
  command.text("--topology", a->topology, "The machine to draw around: a shipped one or a JSON file");
  command.number("--keep", a->keep, 1, 100'000, "Machines to keep");
  command.text("--within", a->within, "How far a kept machine may be off each published figure, percent");
  command.number("--seed", a->seed, 0, ~std::uint64_t{0}, "Seed of the draws");
  command.number("--threads", a->threads, 0, 1024, "Threads; 0: one per processor. The result does not depend on it");
  command.json(a->json);
  command.text("--html", a->html, "Write charts to this file");
  command.text("--check", a->check, "Draw nothing: rerun some machines of this result file and compare");
  command.number("--machines", a->machines, 1, 1000, "With --check: how many to rerun");
  command.runs([a] { a->check.empty() ? run(*a) : check(*a); });
}

}  // namespace cmdq::cli

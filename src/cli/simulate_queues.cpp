// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate queues`: when several queues of one device are worth having, against one for all CPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "experiments.hpp"
#include "queues.hpp"
#include "strategies.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

struct queues_arguments {
  std::string topology = "arm-server-128";
  std::vector<unsigned> cpus = {32, 128};
  std::vector<unsigned> queues;
  std::vector<std::string> strategies = {"combining", "cmpxchg_loop/published"};
  std::vector<double> syncs_ns = {0, 1000, 20'000};
  unsigned list_length = 1;
  double time_ns = 2'000'000;
  std::uint64_t seed = 1;
  std::string json;
};

/// What the rows of one machine, number of CPUs, CMD_SYNC and kind of engine are held against: the library's own
/// strategy on one queue.
struct part {
  unsigned cpus;
  double sync_ns;  ///< 0: the topology's
  bool occupies;
};

picoseconds to_ps(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }

void run_part(const queues_arguments& a, const topology& t, const part& p, nlohmann::ordered_json& rows) {
  topology shape = p.sync_ns == 0 ? t : with_sync(t, to_ps(p.sync_ns));
  queues_options o;
  o.syncs_occupy_engine = p.occupies;
  o.load.cpus = p.cpus;
  o.load.think = t.think;
  o.load.list_length = a.list_length;
  o.load.time = to_ps(a.time_ns) + 4 * shape.device.sync * p.cpus;
  o.load.warm_up = o.load.time / 4;
  o.load.seed = a.seed;
  o.queues = 1;
  const double one = run_queues("combining", shape, o).per_cpu_per_second;
  for (const unsigned queues : a.queues)
    for (const auto& s : a.strategies) {
      if (queues > p.cpus) continue;
      o.queues = queues;
      const auto r = run_queues(s, shape, o);
      const double sync = static_cast<double>(shape.device.sync) / 1000;
      rows.push_back({{"cpus", p.cpus},
                      {"sync_ns", sync},
                      {"sync_occupies", p.occupies ? "engine" : "queue"},
                      {"queues", queues},
                      {"strategy", s},
                      {"per_cpu_per_second", r.per_cpu_per_second},
                      {"over_one_combined_queue", r.per_cpu_per_second / one},
                      {"syncs_per_list", r.syncs_per_list},
                      {"engine_busy", r.engine_busy},
                      {"latency_ns", r.latency_ns},
                      {"longest_ns", r.longest_ns}});
      fmt::print("{:>5} {:>8.0f} {:<8} {:>6} {:<22} {:>10.0f} {:>8.2f} {:>10.3f} {:>7.0f}% {:>11.0f} {:>11.0f}\n",
                 p.cpus, sync, p.occupies ? "engine" : "queue", queues, s, r.per_cpu_per_second,
                 r.per_cpu_per_second / one, r.syncs_per_list, 100 * r.engine_busy, r.latency_ns, r.longest_ns);
    }
}

void check(const queues_arguments& a, const topology& t) {
  for (const unsigned c : a.cpus)
    if (c < 1 || c > t.cpus())
      throw input_error(fmt::format("--cpus {}: the topology \"{}\" has 1 to {} CPUs", c, t.name, t.cpus()));
  for (const unsigned q : a.queues)
    if (q < 1 || q > most_queues) throw input_error(fmt::format("--queues {}: must be from 1 to {}", q, most_queues));
  for (const double s : a.syncs_ns)
    if (!(s >= 0 && s <= 1e7)) throw input_error(fmt::format("--sync-ns {}: must be from 0 to 1e7 nanoseconds", s));
  if (!(a.time_ns >= 1000 && a.time_ns <= 1e9))
    throw input_error(fmt::format("--time {}: must be from 1000 to 1e9 nanoseconds", a.time_ns));
}

/// One, a queue per die, 16, a queue per cluster, 64 and a queue per CPU.
std::vector<unsigned> usual_queues(const topology& t) {
  std::vector<unsigned> out = {1, 4, 16, 64, t.cpus() / t.cpus_per_die(), t.cpus() / t.cpus_per_cluster, t.cpus()};
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  while (out.back() > most_queues) out.pop_back();
  return out;
}

void run(queues_arguments a) {
  const topology t = load_topology(a.topology);
  if (a.queues.empty()) a.queues = usual_queues(t);
  check(a, t);
  fmt::print(
      "Sync: where a CMD_SYNC's time goes: the engine that all queues share, or its own queue alone.\n"
      "Over one: lists per CPU and second over those of combining on one queue.\n"
      "{:>5} {:>8} {:<8} {:>6} {:<22} {:>10} {:>8} {:>10} {:>8} {:>11} {:>11}\n",
      "CPUs", "sync ns", "sync in", "queues", "strategy", "per CPU/s", "over one", "syncs/list", "engine", "latency ns",
      "longest ns");
  nlohmann::ordered_json json = {{"topology", to_json(t)}, {"rows", nlohmann::ordered_json::array()}};
  for (const unsigned cpus : a.cpus)
    for (const double sync : a.syncs_ns)
      for (const bool occupies : {true, false}) run_part(a, t, {cpus, sync, occupies}, json["rows"]);
  if (a.json.empty()) return;
  std::ofstream file(a.json);
  file << json.dump(2) << '\n';
  if (!file.flush()) throw input_error(fmt::format("{}: cannot be written", a.json));
}

}  // namespace

void add_simulate_queues(CLI::App& simulate) {
  CLI::App* command = simulate.add_subcommand("queues", "Several queues of one device against one for all CPUs");
  auto a = std::make_shared<queues_arguments>();
  command->add_option("--topology", a->topology, "A shipped machine (arm-server-128, server-64, soc-8) or a JSON file")
      ->capture_default_str();
  command->add_option("--cpus", a->cpus, "CPUs to use, a list")->delimiter(',')->capture_default_str();
  command
      ->add_option("--queues", a->queues,
                   "Queues that share the device, a list; default: 1, 4, 16, 64 and one per die, cluster and CPU")
      ->delimiter(',');
  command->add_option("--strategy", a->strategies, "Strategies, a list")->delimiter(',')->capture_default_str();
  command->add_option("--sync-ns", a->syncs_ns, "Times of a CMD_SYNC, a list; 0: the topology's")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--list-length", a->list_length, "Commands per list, besides its CMD_SYNC")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  command->add_option("--time", a->time_ns, "Simulated time, ns, beside four CMD_SYNCs per CPU")->capture_default_str();
  command->add_option("--seed", a->seed, "Seed of all that is random")->capture_default_str();
  command->add_option("--json", a->json, "Write the rows to this file");
  command->callback([a] { run(*a); });
}

}  // namespace cmdq::cli

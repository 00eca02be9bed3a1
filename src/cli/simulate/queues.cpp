// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate queues`: when several queues of one device are worth having, against one for all CPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "errors.hpp"
#include "experiments.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
#include "queues.hpp"
#include "simulate/topology_file.hpp"
#include "strategies.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

struct queues_arguments {
  std::string topology = "arm-server-128";
  std::vector<unsigned> cpus = {32, 128};
  std::vector<unsigned> queues;
  std::vector<std::string> strategies = {"combining", "cmpxchg_loop/published"};
  std::vector<unsigned> syncs_ns = {0, 1000, 20'000};
  unsigned list_length = 1;
  double time_ns = 2'000'000;
  std::uint64_t seed = 1;
  std::string json;
};

/// What the rows of one machine, number of CPUs, CMD_SYNC and kind of engine are held against: the library's own
/// strategy on one queue.
struct part {
  unsigned cpus;
  unsigned sync_ns;  ///< 0: the topology's
  bool occupies;
};

picoseconds to_ps(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }

void run_part(const queues_arguments& a, const topology& t, const part& p, results& out, progress& line) {
  topology shape = p.sync_ns == 0 ? t : with_sync(t, picoseconds{p.sync_ns} * 1000);
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
      line.step(fmt::format("{} CPUs, {} queues, {}", p.cpus, queues, s));
      const auto r = run_queues(s, shape, o);
      const double sync = static_cast<double>(shape.device.sync) / 1000;
      out.add([&](auto& j) {
        j["rows"].push_back({{"cpus", p.cpus},
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
      });
      out.say(
          fmt::format("{:>5} {:>8.0f} {:<8} {:>6} {:<22} {:>10.0f} {:>8.2f} {:>10.3f} {:>7.0f}% {:>11.0f} {:>11.0f}\n",
                      p.cpus, sync, p.occupies ? "engine" : "queue", queues, s, r.per_cpu_per_second,
                      r.per_cpu_per_second / one, r.syncs_per_list, 100 * r.engine_busy, r.latency_ns, r.longest_ns));
    }
}

void check(const queues_arguments& a, const topology& t) {
  for (const unsigned c : a.cpus)
    if (c < 1 || c > t.cpus())
      throw input_error(fmt::format("--cpus {}: the topology \"{}\" has 1 to {} CPUs", c, t.name, t.cpus()));
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
  const topology t = read_topology(a.topology);
  if (a.queues.empty()) a.queues = usual_queues(t);
  check(a, t);
  results out(a.json);
  out.add([&](auto& j) {
    j["topology"] = to_json(t);
    j["rows"] = nlohmann::ordered_json::array();
  });
  out.say(
      fmt::format("Sync in: where a CMD_SYNC's time goes, the engine that all queues share or its own queue alone.\n"
                  "Over one: lists per CPU and second over those of combining on one queue.\n"
                  "{:>5} {:>8} {:<8} {:>6} {:<22} {:>10} {:>8} {:>10} {:>8} {:>11} {:>11}\n",
                  "CPUs", "sync ns", "sync in", "queues", "strategy", "per CPU/s", "over one", "syncs/list", "engine",
                  "latency ns", "longest ns"));
  progress line(2 * a.cpus.size() * a.syncs_ns.size() * a.queues.size() * a.strategies.size());
  for (const unsigned cpus : a.cpus)
    for (const unsigned sync : a.syncs_ns)
      for (const bool occupies : {true, false}) run_part(a, t, {cpus, sync, occupies}, out, line);
  out.finish();
}

}  // namespace

void add_simulate_queues(arguments& simulate) {
  arguments command = simulate.add("queues", "Several queues of one device against one for all CPUs");
  auto a = std::make_shared<queues_arguments>();
  command.text("--topology", a->topology, "A shipped machine (arm-server-128, server-64, soc-8) or a JSON file");
  command.numbers("--cpus", a->cpus, 1, max_cpus, "CPUs to use");
  command.numbers("--queues", a->queues, 1, most_queues,
                  "Queues that share the device; default: 1, 4, 16, 64 and one per die, cluster and CPU");
  command.choices("--strategy", a->strategies, strategy_names(), "Strategies");
  command.numbers("--sync-ns", a->syncs_ns, 0, 10'000'000, "Times of a CMD_SYNC; 0: the topology's");
  command.number("--list-length", a->list_length, 1, 64, "Commands per list, besides its CMD_SYNC");
  command.number("--time", a->time_ns, 1000, 1e9, "Simulated time, ns, beside four CMD_SYNCs per CPU");
  command.number("--seed", a->seed, 0, ~std::uint64_t{0}, "Seed of all that is random");
  command.json(a->json);
  command.runs([a] { run(*a); });
}

}  // namespace cmdq::cli

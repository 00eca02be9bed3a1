// SPDX-License-Identifier: BSL-1.0
// cmdq-bench: the cost of one insertion, and contention, on Google Benchmark. Every run checks itself. Exit codes: 0
// all runs good, 1 one was not, 2 bad input.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include "contention/run.hpp"
#include "latency/one_thread.hpp"
#include "machine.hpp"
#include "ratios.hpp"

namespace {

using namespace bench;

bool all_good = true;

void failed(const char* what) {
  all_good = false;
  fmt::print(stderr, "FAILED: {}\n", what);
}

/// The time of an iteration is the time per list, so that tools that compare results see a change.
void report(benchmark::State& state, const measurement& m) {
  state.SetIterationTime(m.lists_per_second > 0 ? 1 / m.lists_per_second : m.seconds);
  const std::pair<const char*, double> counters[] = {{"lists_per_s", m.lists_per_second},
                                                     {"p50_ns", m.p50},
                                                     {"p99_ns", m.p99},
                                                     {"p99_9_ns", m.p999},
                                                     {"max_ns", m.max},
                                                     {"jain", m.jain},
                                                     {"least_share", m.least_share},
                                                     {"switches_per_list", m.switches_per_list},
                                                     {"syncs_per_list", m.syncs_per_list},
                                                     {"prod_writes_per_list", m.prod_writes_per_list},
                                                     {"cons_reads_per_list", m.cons_reads_per_list},
                                                     {"retries_per_list", m.retries_per_list},
                                                     {"device_sync_ns", m.device_sync_ns}};
  for (const auto& [name, value] : counters) state.counters[name] = value;
}

void contention(benchmark::State& state, const entrant& who, const scenario& s, const std::string& name) {
  for (auto _ : state) {
    const measurement m = run(who, s);
    report(state, m);
    std::string label = s.threads > cores() ? "oversubscription" : "";
    if (m.starved) label += label.empty() ? "starved" : ", starved";
    state.SetLabel(label);
    std::string wrong = m.failure;
    if (wrong.empty() && m.starved && who.is == side::ours)
      wrong = fmt::format("a thread got {:.3f} of its share, the least is 0.1", m.least_share);
    if (wrong.empty()) continue;
    failed((name + ": " + wrong).c_str());
    state.SkipWithError(wrong.c_str());
    break;
  }
}

/// Which combinations are run.
struct selection {
  std::vector<std::uint32_t> threads, lists;
  std::vector<device_kind> devices;
  std::vector<bool> fixed_work;
  bool spin = false;
  double seconds = 0.1;
  std::uint64_t work = 200;  ///< lists per thread
};

selection selection_of(const std::string& set) {
  if (set == "quick") return {{2, 8}, {4}, {{}, {true, 2'000}}, {true}, true, 0.1, 200};
  if (set == "short")
    return {{1, 2, 8, 32, 64, 128}, {1}, {{}, {true, 2'000, true}, {true, 10'000, true}}, {false}, false, 0.1, 0};
  return {{1, 2, 4, 8, 16, 32, 64, 128},
          {1, 4, 16, 64},
          {{}, {true, 0}, {true, 200}, {true, 2'000}, {true, 10'000}, {true, 2'000, true}, {true, 10'000, true}},
          {false, true},
          true,
          0.25,
          100};
}

std::string name_of(const device_kind& d) {
  return !d.threaded ? "inline" : fmt::format("{}_{}ns", d.keeps_core ? "core" : "thread", d.sync_ns);
}

/// Long enough for each thread to have a processor several times. With an inline device nobody waits, so a thread that
/// runs does thousands of lists and one that does not has none: there it takes some twenty turns to even out.
double seconds_for(const selection& what, const device_kind& dev, std::uint32_t threads) {
  return what.seconds + (dev.threaded ? 0.015 : 0.06) * threads / cores();
}

void register_contention(const selection& what) {
  for (const entrant& who : all_entrants())
    for (const bool work : what.fixed_work)
      for (const device_kind dev : what.devices)
        for (const std::uint32_t list : what.lists)
          for (const std::uint32_t threads : what.threads) {
            if (who.wait == "spin" && (!what.spin || threads + (dev.threaded ? 1 : 0) > cores())) continue;
            const std::string name =
                fmt::format("contention/{}/{}/{}/{}/list:{}/device:{}/threads:{}", work ? "work" : "time", who.strategy,
                            who.completion, who.wait, list, name_of(dev), threads);
            const scenario s{threads, list, dev, seconds_for(what, dev, threads), work ? what.work : 0};
            benchmark::RegisterBenchmark(name.c_str(), contention, who, s, name)
                ->Iterations(1)
                ->UseManualTime()
                ->Unit(benchmark::kMicrosecond);
          }
}

/// The result file, with the threads of the contention runs, which are not Google Benchmark's own.
class result_file : public benchmark::JSONReporter {
 public:
  void ReportRuns(const std::vector<Run>& all) override {
    std::vector<Run> with_threads = all;
    for (Run& r : with_threads) {
      constexpr std::string_view mark = "/threads:";
      const std::string& name = r.run_name.function_name;
      const auto at = name.rfind(mark);
      if (at != std::string::npos) r.threads = std::stol(name.substr(at + mark.size()));
    }
    JSONReporter::ReportRuns(with_threads);
  }
};

int run_benchmarks(const std::string& set, double seconds, std::vector<std::string> rest, const char* program) {
  register_one_thread(&failed);
  selection what = selection_of(set);
  if (seconds > 0) what.seconds = seconds;
  register_contention(what);
  rest.insert(rest.begin(), program);
  std::vector<char*> argv;
  for (std::string& r : rest) argv.push_back(r.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(rest.size());
  benchmark::Initialize(&argc, argv.data());
  if (benchmark::ReportUnrecognizedArguments(argc, argv.data())) return 2;
  for (const auto& [key, value] : machine()) benchmark::AddCustomContext(key, value);
  result_file file;
  const bool wanted =
      std::any_of(rest.begin(), rest.end(), [](const std::string& r) { return r.rfind("--benchmark_out=", 0) == 0; });
  if (benchmark::RunSpecifiedBenchmarks(nullptr, wanted ? &file : nullptr) == 0) failed("no benchmark matches");
  benchmark::Shutdown();
  return all_good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Cost of an insertion, and contention. Other options go to Google Benchmark, as --benchmark_filter=REGEX "
      "or --benchmark_out=FILE."};
  app.allow_extras();
  std::string set = "full";
  double seconds = 0;
  bool with_ratios = false;
  ratio_options o;
  app.add_option("--set", set, "which combinations")->check(CLI::IsMember({"quick", "short", "full"}));
  app.add_option("--seconds", seconds, "length of a run of fixed time")->check(CLI::Range(0.001, 3600.0));
  app.add_option(
         "--cpus-per-group", bench::cpus_per_group,
         "CPUs that gather on their own first, for combining_groups; default: 8, on small machines half of them")
      ->check(CLI::Range(1U, 4096U));
  app.add_flag("--ratios", with_ratios, "our strategies against everything else, interleaved");
  app.add_option("--repetitions", o.repetitions, "rounds of --ratios")->check(CLI::Range(1, 1000));
  app.add_option("--threads", o.threads, "thread counts of --ratios")->check(CLI::Range(1U, most_threads));
  app.add_option("--sync-ns", o.sync_ns, "times of a CMD_SYNC of --ratios, in ns")->check(CLI::Range(0, 1'000'000'000));
  bool yields = false;
  app.add_flag("--device-yields", yields, "--ratios with a device that gives its processor away while it waits");
  app.add_option("--json", o.json, "result file of --ratios");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (!(seconds == 0 || (seconds >= 0.001 && seconds <= 3600))) {  // not a number is in no range
    fmt::print(stderr, "--seconds {}: must be a number from 0.001 to 3600\n", seconds);
    return 2;
  }
  if (with_ratios && !app.remaining().empty()) {
    fmt::print(stderr, "--ratios does not know {}\n", app.remaining()[0]);
    return 2;
  }
  try {
    if (seconds > 0) o.seconds = seconds;
    o.device_keeps_core = !yields;
    const int code = with_ratios ? ratios(o) : run_benchmarks(set, seconds, app.remaining(), argv[0]);
    if (std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    fmt::print(stderr, "standard output: cannot be written\n");
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
  }
  return 2;
}

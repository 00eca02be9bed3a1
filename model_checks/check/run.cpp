// SPDX-License-Identifier: BSL-1.0
// `list`, `run` and `merge`: the scenarios that must pass.
#include "commands.hpp"
#include "recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

namespace cmdq::checks {

namespace {

/// Random explorations are cut into pieces of this size, which may run anywhere.
constexpr std::uint64_t piece = 100000;

struct planned {
  const registered* what;
  request how;
  /// Executions that were recorded for this search; 0 where any number will do.
  std::uint64_t expected;
};

bool is_correct(const registered& r) { return r.about->expected == ending::passed; }

request requested(const facts& about, const run_options& options) {
  request r = default_request(about);
  if (options.how) r.how = *options.how;
  if (options.bound) r.bound = *options.bound;
  r.first = first_iteration(options.seed);
  r.iterations = r.how == schedule::random ? about.iterations : 0;
  if (options.iterations) r.iterations = *options.iterations;
  return r;
}

void plan_one(const registered& what, const request& how, std::vector<planned>& plan) {
  const facts& about = *what.about;
  if (how.how != schedule::random) {
    const bool as_recorded = how.how == about.how && (how.how == schedule::full || how.bound == about.bound);
    plan.push_back({&what, how, as_recorded && how.iterations == 0 ? recorded_count(about.name) : 0});
    return;
  }
  for (std::uint64_t done = 0; done < how.iterations; done += piece) {
    request part = how;
    part.first = how.first + done;
    part.iterations = std::min(piece, how.iterations - done);
    plan.push_back({&what, part, 0});
  }
}

std::vector<planned> make_plan(const run_options& options) {
  std::vector<planned> plan;
  for (const registered& r : all_scenarios()) {
    if (!is_correct(r) || std::string_view(r.about->name).find(options.pattern) == std::string_view::npos) continue;
    plan_one(r, requested(*r.about, options), plan);
  }
  if (plan.empty()) throw std::invalid_argument(fmt::format("no scenario's name contains '{}'", options.pattern));
  std::vector<planned> mine;
  for (std::size_t i = options.shard - 1; i < plan.size(); i += options.shards) mine.push_back(plan[i]);
  return mine;
}

double weight(const planned& p) {
  const std::uint64_t n = p.how.how == schedule::random ? p.how.iterations : p.expected;
  return static_cast<double>(n == 0 || n == not_recorded ? piece : n) * p.what->about->threads;
}

answer entry(const planned& p, const answer& a) {
  const facts& about = *p.what->about;
  const bool counted = p.expected == 0 || a.value("executions", std::uint64_t{0}) == p.expected;
  const bool ok = a.value("result", "") == "passed" && counted;
  answer e = {{"scenario", about.name},
              {"proves", about.proves},
              {"bounds", about.bounds},
              {"schedule", name(p.how.how)},
              {"bound", p.how.how == schedule::bounded ? answer(p.how.bound) : answer(nullptr)},
              {"first", p.how.how == schedule::random ? answer(p.how.first) : answer(nullptr)},
              {"executions", a.value("executions", std::uint64_t{0})},
              {"expected_executions", p.expected == 0 ? answer(nullptr) : answer(p.expected)},
              {"cut", a.value("cut", false)},
              {"seconds", a.value("seconds", 0.0)},
              {"result", a.value("result", "")},
              {"ok", ok}};
  if (!ok) e["detail"] = counted ? a.value("detail", "") : "the state space changed: explain it, then record the count";
  return e;
}

void print_entry(const planned& p, const answer& e, const answer& a) {
  const std::string how = p.how.how == schedule::bounded ? fmt::format("bounded {}", p.how.bound) : name(p.how.how);
  fmt::print("{:<6} {:<44} {:<10} {:>9} executions {:>7.1f} s{}\n", e["ok"].get<bool>() ? "passed" : "FAILED",
             p.what->about->name, how, e["executions"].get<std::uint64_t>(), e["seconds"].get<double>(),
             e["cut"].get<bool>() ? "  (cut)" : "");
  if (e["ok"].get<bool>()) return;
  if (p.expected == not_recorded) {
    fmt::print("       no count is recorded for this search\n");
  } else if (p.expected != 0) {
    fmt::print("       recorded: {} executions\n", p.expected);
  }
  fmt::print("       {}: {}\n{}", a.value("result", ""), e["detail"].get<std::string>(), a.value("history", ""));
  if (a.contains("state") && !a["state"].get<std::string>().empty()) {
    fmt::print("       again: {}\n", replay_command(*p.what->about, p.how, std::nullopt, a));
  }
}

struct totals {
  std::uint64_t executions = 0;
  double seconds = 0;
  std::size_t failed = 0;
  std::set<std::string> scenarios;
  void add(const answer& e) {
    executions += e.at("executions").get<std::uint64_t>();
    seconds += e.at("seconds").get<double>();
    failed += e.at("ok").get<bool>() ? 0 : 1;
    scenarios.insert(e.at("scenario").get<std::string>());
  }
};

int conclude(const totals& t) {
  fmt::print("{} scenarios, {} executions, {:.1f} s of processor time: {}\n", t.scenarios.size(), t.executions,
             t.seconds, t.failed == 0 ? std::string("all as expected") : fmt::format("{} NOT as expected", t.failed));
  return t.failed == 0 ? 0 : 1;
}

/// Lines for recorded_counts.inc: the searches that ran to their end.
std::string count_table(const std::vector<answer>& runs) {
  std::string out =
      "// SPDX-License-Identifier: BSL-1.0\n// Executions of each search, as `cmdq-check run --record` wrote them.";
  for (const answer& e : runs) {
    if (e["schedule"] == "random" || e["cut"].get<bool>() || e["result"] != "passed") continue;
    out += fmt::format("\n{{\"{}\", {}}},", e["scenario"].get<std::string>(), e["executions"].get<std::uint64_t>());
  }
  return out;
}

answer result_file(unsigned shard, unsigned shards, const std::vector<answer>& runs, const totals& t) {
  return {{"kind", "run"},
          {"shard", shard},
          {"shards", shards},
          {"scenarios", t.scenarios.size()},
          {"executions", t.executions},
          {"seconds", t.seconds},
          {"failed", t.failed},
          {"runs", runs}};
}

}  // namespace

int list_scenarios() {
  for (const registered& r : all_scenarios()) {
    const facts& f = *r.about;
    fmt::print("{}\n    {}{}\n    {}; {} schedule\n", f.name, is_correct(r) ? "" : "must be rejected: ", f.proves,
               f.bounds, name(f.how));
  }
  return 0;
}

int run_correct(const run_options& options) {
  const std::vector<planned> plan = make_plan(options);
  std::vector<job> jobs;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    jobs.push_back({i, child_arguments(*plan[i].what->about, plan[i].how, std::nullopt), weight(plan[i])});
  }
  std::vector<answer> runs(plan.size());
  totals sum;
  run_jobs(jobs, options.pool, [&](const job& j, const answer& a) {
    runs[j.id] = entry(plan[j.id], a);
    print_entry(plan[j.id], runs[j.id], a);
    std::fflush(stdout);
    sum.add(runs[j.id]);
    return std::optional<job>();
  });
  if (!options.record.empty()) write_file(options.record, count_table(runs));
  if (!options.json.empty()) write_file(options.json, result_file(options.shard, options.shards, runs, sum).dump(2));
  return conclude(sum);
}

int merge_runs(const std::vector<std::string>& files, const std::string& json) {
  totals sum;
  std::vector<answer> runs;
  std::map<unsigned, std::string> seen;
  unsigned shards = 0;
  for (const std::string& file : files) {
    std::ifstream in(file);
    const answer a = in ? answer::parse(in, nullptr, false) : answer();
    if (!a.is_object() || a.value("kind", "") != "run") {
      throw std::invalid_argument(fmt::format("{}: not a result of cmdq-check run --json", file));
    }
    const auto shard = a.at("shard").get<unsigned>();
    if (shards != 0 && shards != a.at("shards").get<unsigned>()) {
      throw std::invalid_argument(
          fmt::format("{}: one of {} shards, the files before of {}", file, a.at("shards").get<unsigned>(), shards));
    }
    shards = a.at("shards").get<unsigned>();
    const auto [other, fresh] = seen.try_emplace(shard, file);
    if (!fresh) throw std::invalid_argument(fmt::format("{} and {} are both shard {}", other->second, file, shard));
    for (const answer& e : a.at("runs")) {
      runs.push_back(e);
      sum.add(e);
    }
  }
  for (unsigned i = 1; i <= shards; ++i) {
    if (seen.contains(i)) continue;
    fmt::print("shard {} of {} is missing\n", i, shards);
    ++sum.failed;
  }
  if (!json.empty()) write_file(json, result_file(1, 1, runs, sum).dump(2));
  return conclude(sum);
}

}  // namespace cmdq::checks

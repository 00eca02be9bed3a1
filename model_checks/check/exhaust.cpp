// SPDX-License-Identifier: BSL-1.0
// `exhaust`: complete searches under sequential consistency, and the known bugs that they must find.
#include "../exhaust/front.hpp"
#include "commands.hpp"
#include "recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cmdq::checks {

namespace {

using exhaust::kind;
using exhaust::listed;

/// Executions of a mended wrong variant: enough to see that it is not the scenario that fails.
constexpr const char* control_executions = "2000";
constexpr const char* not_found_executions = "20000";

/// A search with more executions is no part of every test run.
constexpr std::uint64_t most_everyday = 200'000;

bool is_deep(const listed& s) {
  return s.what == kind::deep || (s.what == kind::by_count && recorded_exhaust_count(s.name) > most_everyday);
}

struct planned {
  listed what;
  bool control;  ///< a wrong variant mended: it must pass
};

std::vector<planned> planned_searches(const exhaust_options& options) {
  std::vector<planned> plan;
  for (const listed& s : exhaust::scenarios()) {
    if (s.name.find(options.pattern) == std::string::npos || (is_deep(s) && !options.deep)) continue;
    plan.push_back({s, false});
    if (s.what == kind::wrong && s.broken_site && s.not_found_because == nullptr) plan.push_back({s, true});
  }
  if (plan.empty())
    throw std::invalid_argument(
        fmt::format("no search's name contains '{}'; see: cmdq-check exhaust --list --deep", options.pattern));
  return plan;
}

job search(std::size_t id, const planned& p, const exhaust_options& options) {
  std::vector<std::string> args = {p.what.name};
  if (p.control) args.insert(args.end(), {"--sound", "--executions", control_executions});
  if (p.what.not_found_because != nullptr) args.insert(args.end(), {"--executions", not_found_executions});
  if (options.cut > 0) args.insert(args.end(), {"--cut", fmt::format("{}", options.cut)});
  const std::uint64_t n = recorded_exhaust_count(p.what.name);
  return {id, args, static_cast<double>(n == not_recorded ? 100000 : n), "exhaust-child"};
}

bool must_fail(const planned& p) {
  return p.what.what == kind::wrong && !p.control && p.what.not_found_because == nullptr;
}

answer row(const planned& p, const answer& a, bool cut) {
  const std::string result = a.value("result", "");
  const auto executions = a.value("executions", std::uint64_t{0});
  const bool complete = a.value("complete", false);
  const bool wrong = p.what.what == kind::wrong;
  const std::uint64_t recorded = recorded_exhaust_count(p.what.name);
  const bool counted = wrong || cut || (complete && executions == recorded);
  const bool crashed = result == "crashed" || result == "ran too long";
  const bool ok = must_fail(p) ? result != "passed" && !crashed : result == "passed" && counted;
  answer expected = recorded == not_recorded ? answer(nullptr) : answer(recorded);
  if (wrong) expected = must_fail(p) ? "rejected" : "passed";
  return {
      {"scenario", p.what.name + (p.control ? " (mended)" : "")},
      {"bounds", p.what.bounds},
      {"executions", executions},
      {"redundant", a.value("redundant", std::uint64_t{0})},
      {"complete", complete},
      {"seconds", a.value("seconds", 0.0)},
      {"expected", expected},
      {"result", result},
      {"not_found_because", p.what.not_found_because == nullptr ? answer(nullptr) : answer(p.what.not_found_because)},
      {"ok", ok}};
}

void print(const planned& p, const answer& r, const answer& a) {
  const bool ok = r["ok"].get<bool>();
  fmt::print("{:<7} {:<44} {:>9} executions {:>9} redundant {:>7.1f} s  {}\n", ok ? "as told" : "NOT SO",
             r["scenario"].get<std::string>(), r["executions"].get<std::uint64_t>(),
             r["redundant"].get<std::uint64_t>(), r["seconds"].get<double>(),
             r["complete"].get<bool>() ? "complete" : r["result"].get<std::string>());
  if (!ok && !must_fail(p)) {
    fmt::print("        expected {}: {}\n{}", r["expected"].dump(), r["result"].get<std::string>(),
               a.value("history", ""));
  }
  std::fflush(stdout);
}

std::string count_table(const std::vector<answer>& rows) {
  std::string out =
      "// SPDX-License-Identifier: BSL-1.0\n// Executions of each complete search, as `cmdq-check exhaust --record` "
      "wrote them.";
  for (const answer& r : rows) {
    if (!r["complete"].get<bool>() || r["result"] != "passed" || r["expected"].is_string()) continue;
    out += fmt::format("\n{{\"{}\", {}}},", r["scenario"].get<std::string>(), r["executions"].get<std::uint64_t>());
  }
  return out;
}

int list_searches(const exhaust_options& options) {
  for (const planned& p : planned_searches(options)) {
    if (p.control) continue;
    const char* const size = p.what.what == kind::wrong ? " (must be rejected)" : is_deep(p.what) ? " (deep)" : "";
    fmt::print("{}{}\n    {}\n    {}\n", p.what.name, size, p.what.proves, p.what.bounds);
  }
  return 0;
}

}  // namespace

int exhaust(const exhaust_options& options) {
  if (options.list) return list_searches(options);
  const std::vector<planned> plan = planned_searches(options);
  std::vector<job> jobs;
  for (std::size_t i = 0; i < plan.size(); ++i) jobs.push_back(search(i, plan[i], options));
  std::vector<answer> rows(plan.size());
  std::uint64_t executions = 0;
  double seconds = 0;
  std::size_t failed = 0;
  run_jobs(jobs, options.pool, [&](const job& j, const answer& a) {
    rows[j.id] = row(plan[j.id], a, options.cut > 0);
    print(plan[j.id], rows[j.id], a);
    executions += rows[j.id]["executions"].get<std::uint64_t>();
    seconds += rows[j.id]["seconds"].get<double>();
    failed += rows[j.id]["ok"].get<bool>() ? 0 : 1;
    return std::optional<job>();
  });
  if (!options.record.empty()) write_file(options.record, count_table(rows));
  if (!options.json.empty()) write_file(options.json, answer(rows).dump(2));
  fmt::print("{} searches, {} executions, {:.1f} s of processor time: {}\n", rows.size(), executions, seconds,
             failed == 0 ? std::string("all as expected") : fmt::format("{} NOT as expected", failed));
  return failed == 0 ? 0 : 1;
}

int exhaust_child(const exhaust_child_options& options) {
  const exhaust::findings f = exhaust::explore(options.scenario, options.executions, options.cut, options.sound);
  const answer a = {{"result", f.failure.empty() ? "passed" : f.failure},
                    {"executions", f.executions},
                    {"redundant", f.redundant},
                    {"complete", f.complete},
                    {"seconds", f.seconds},
                    {"history", f.history}};
  fmt::print("{}\n", a.dump(-1, ' ', false, answer::error_handler_t::replace));
  return 0;
}

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
#include "ratios.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "contention/run.hpp"
#include "machine.hpp"

namespace bench {
namespace {

using nlohmann::json;

/// What combining must reach against the best other contender, by the time of a CMD_SYNC.
struct bar {
  std::uint64_t sync_ns;
  double ratio;
};
constexpr bar bars[] = {{200, 0.9}, {2'000, 1.0}, {10'000, 3.0}};
constexpr double least_share = 0.1;
constexpr double syncs_per_list = 0.1;  // at 128 threads, 2 us and more

double bar_for(std::uint64_t sync_ns) {
  for (const bar& b : bars)
    if (sync_ns <= b.sync_ns) return b.ratio;
  return bars[2].ratio;
}

struct spread {
  double low = 0, median = 0, high = 0;  ///< quartiles
};

spread of(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const std::size_t n = v.size();
  const auto middle = [&](std::size_t from, std::size_t to) {
    return (v[(from + to - 1) / 2] + v[(from + to) / 2]) / 2;
  };
  return {v[n / 4], middle(0, n), v[n - 1 - n / 4]};
}

using runs = std::vector<measurement>;

template <class Field>
std::vector<double> values(const runs& r, Field field) {
  std::vector<double> v;
  for (const measurement& m : r) v.push_back(m.*field);
  return v;
}

/// Run by run, since those of one round saw the same machine.
template <class Field>
std::vector<double> quotients(const runs& a, const runs& b, Field field) {
  std::vector<double> v;
  for (std::size_t i = 0; i < a.size(); ++i) v.push_back(a[i].*field / b[i].*field);
  return v;
}

/// Those who take part: the default completion and wait policy; combining once.
std::vector<entrant> field_of() {
  std::vector<entrant> all = all_entrants();
  std::erase_if(all, [](const entrant& e) {
    return e.completion != "cons" || e.wait != "yield" || e.strategy == "combining_groups";
  });
  return all;
}

std::string failed(const entrant& e, const scenario& s, const measurement& m) {
  if (m.failure.empty() && !(m.starved && e.is == side::ours)) return "";
  return fmt::format("{} at {} threads, {} ns: {}", e.strategy, s.threads, s.dev.sync_ns,
                     m.failure.empty() ? "a thread got less than a tenth of its share" : m.failure);
}

json as_json(const measurement& m) {
  return {{"lists_per_second", m.lists_per_second}, {"p99_9_ns", m.p999}, {"least_share", m.least_share},
          {"syncs_per_list", m.syncs_per_list},     {"jain", m.jain},     {"device_sync_ns", m.device_sync_ns}};
}

struct results {
  side is = side::ours;
  runs all;
};
using table = std::map<std::string, results>;

/// The fastest, by its median, of the others: strategies and baselines, or pumps.
std::string best_of(const table& t, bool pumps) {
  std::string best;
  double best_median = -1;
  for (const auto& [name, r] : t) {
    if (name == "combining" || (r.is == side::pump) != pumps) continue;
    const double median = of(values(r.all, &measurement::lists_per_second)).median;
    if (median > best_median) best = name, best_median = median;
  }
  return best;
}

std::string text(const spread& s) { return fmt::format("{:>5.2f} ({:.2f}-{:.2f})", s.median, s.low, s.high); }
json as_json(const spread& s) { return {s.low, s.median, s.high}; }

/// Microseconds that a CMD_SYNC really took the device.
double took(const runs& r) { return of(values(r, &measurement::device_sync_ns)).median / 1000; }

/// One line of the table for one scenario: the bars are against the best other strategy or baseline.
bool judge(const scenario& s, const table& t, json& out) {
  const runs& ours = t.at("combining").all;
  const std::string best = best_of(t, false);
  const std::string pump = best_of(t, true);
  const spread speed = of(quotients(ours, t.at(best).all, &measurement::lists_per_second));
  const spread tail = of(quotients(ours, t.at(best).all, &measurement::p999));
  const std::vector<double> shares = values(ours, &measurement::least_share);
  const double least = *std::min_element(shares.begin(), shares.end());
  const double syncs = of(values(ours, &measurement::syncs_per_list)).median;
  const double wanted = bar_for(s.dev.sync_ns);
  std::string missed;
  if (speed.median < wanted) missed += " throughput";
  if (tail.median > 1) missed += " p99.9";
  if (least < least_share) missed += " least-share";
  if (s.threads == 128 && s.dev.sync_ns >= 2'000 && syncs > syncs_per_list) missed += " syncs-per-list";
  out = {{"threads", s.threads},
         {"sync_ns", s.dev.sync_ns},
         {"best_other", best},
         {"ratio", as_json(speed)},
         {"bar", wanted},
         {"p99_9_ratio", as_json(tail)},
         {"least_share", least},
         {"syncs_per_list", syncs},
         {"device_keeps_core", s.dev.keeps_core},
         {"holds", missed.empty()},
         {"missed", missed}};
  fmt::print(
      "{:>4} us {:>4} threads  {:<20}{} >= {:<4} p99.9 {}  share {:.2f}  syncs/list {:.3f}  took {:.1f} and {:.1f} us  "
      "{}{}\n",
      static_cast<double>(s.dev.sync_ns) / 1000, s.threads, best, text(speed), wanted, text(tail), least, syncs,
      took(ours), took(t.at(best).all), missed.empty() ? "holds" : "MISSED:" + missed,
      s.threads > cores() ? "  [oversubscription]" : "");
  if (!pump.empty()) {
    const spread against = of(quotients(ours, t.at(pump).all, &measurement::lists_per_second));
    out["best_pump"] = pump;
    out["pump_ratio"] = as_json(against);
    fmt::print("{:>22}  {:<20}{} (no bar: a thread of its own that combines, too)\n", "", pump, text(against));
  }
  std::fflush(stdout);
  return missed.empty();
}

/// Every contender in turn, `repetitions` times. False: a run found something wrong.
bool run_all(const scenario& s, unsigned repetitions, table& t) {
  const std::vector<entrant> all = field_of();
  bool good = true;
  for (unsigned round = 0; round < repetitions; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const entrant& e = all[(i + round) % all.size()];  // nobody always comes first
      results& r = t[e.strategy];
      r.is = e.is;
      r.all.push_back(run(e, s));
      const std::string wrong = failed(e, s, r.all.back());
      if (!wrong.empty()) fmt::print("FAILED: {}\n", wrong);
      good = good && wrong.empty();
    }
  }
  return good;
}

/// A device that keeps its core leaves one less to the producers: long enough for each to have it several times.
double seconds_for(const ratio_options& o, std::uint32_t threads) {
  return o.seconds + (o.device_keeps_core ? 0.015 * threads / cores() : 0);
}

}  // namespace

namespace {

/// Opened before the runs; what has been measured is in it after each scenario, "complete" only in the end.
void save(std::ofstream& to, const std::string& path, json& all, bool complete) {
  if (path.empty()) return;
  all["context"]["complete"] = complete;
  to.seekp(0);
  to << all.dump(1) << '\n';
  if (!to.flush()) throw std::runtime_error(fmt::format("--json {}: cannot be written", path));
}

}  // namespace

int ratios(const ratio_options& o) {
  std::ofstream out;
  if (!o.json.empty()) out.open(o.json);
  if (!out) throw std::runtime_error(fmt::format("--json {}: cannot be written", o.json));
  json file = {{"context", json::object()}, {"scenarios", json::array()}};
  for (const auto& [key, value] : machine()) file["context"][key] = value;
  bool good = true;
  fmt::print(
      "combining / best other: lists of 1 + CMD_SYNC, device on a thread that {}, {} interleaved runs of {} s, medians "
      "(quartiles), {} cores, load {}\n",
      o.device_keeps_core ? "keeps its core" : "yields", o.repetitions, o.seconds, cores(), load());
  for (const std::uint64_t sync_ns : o.sync_ns) {
    for (const std::uint32_t threads : o.threads) {
      const scenario s{threads, 1, {true, sync_ns, o.device_keeps_core}, seconds_for(o, threads), 0};
      table t;
      json judged;
      good = run_all(s, o.repetitions, t) && good;
      good = judge(s, t, judged) && good;
      for (const auto& [name, r] : t)
        for (const measurement& m : r.all) judged["runs"][name].push_back(as_json(m));
      file["scenarios"].push_back(judged);
      std::fflush(stdout);
      save(out, o.json, file, false);
    }
  }
  file["context"]["load_after"] = load();
  save(out, o.json, file, true);
  return good ? 0 : 1;
}

}  // namespace bench

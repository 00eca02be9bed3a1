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

/// Those who take part: the default completion and wait policy.
std::vector<entrant> field_of() {
  std::vector<entrant> all = all_entrants();
  std::erase_if(all, [](const entrant& e) { return e.completion != "cons" || e.wait != "yield"; });
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

double median_speed(const results& r) { return of(values(r.all, &measurement::lists_per_second)).median; }

/// The fastest by its median of those that `takes_part` is true of; empty: none.
template <class F>
std::string best_of(const table& t, const F& takes_part) {
  std::string best;
  for (const auto& [name, r] : t)
    if (takes_part(name, r.is) && (best.empty() || median_speed(r) > median_speed(t.at(best)))) best = name;
  return best;
}

std::string text(const spread& s) { return fmt::format("{:>5.2f} ({:.2f}-{:.2f})", s.median, s.low, s.high); }
json as_json(const spread& s) { return {s.low, s.median, s.high}; }

/// Microseconds that a CMD_SYNC really took the device.
double took(const runs& r) { return of(values(r, &measurement::device_sync_ns)).median / 1000; }

/// `ours` over `other`: throughput and tail.
json compared(const scenario& s, const table& t, const std::string& ours, const std::string& other) {
  const runs &a = t.at(ours).all, &b = t.at(other).all;
  const spread speed = of(quotients(a, b, &measurement::lists_per_second));
  const spread tail = of(quotients(a, b, &measurement::p999));
  const std::vector<double> shares = values(a, &measurement::least_share);
  const double least = *std::min_element(shares.begin(), shares.end());
  const double syncs = of(values(a, &measurement::syncs_per_list)).median;
  fmt::print(
      "{:>4} us {:>4} threads  {:<20} / {:<20}{}  p99.9 {}  share {:.2f}  syncs/list {:.3f}  took {:.1f}, {:.1f} "
      "us{}\n",
      static_cast<double>(s.dev.sync_ns) / 1000, s.threads, ours, other, text(speed), text(tail), least, syncs, took(a),
      took(b), s.threads > cores() ? "  [oversubscription]" : "");
  return {{"ours", ours},         {"other", other},         {"ratio", as_json(speed)}, {"p99_9_ratio", as_json(tail)},
          {"least_share", least}, {"syncs_per_list", syncs}};
}

/// The rows of the table for one scenario: the default strategy against the best baseline or published form, and the
/// best of the library's own against the best queue with a thread of its own.
json judge(const scenario& s, const table& t) {
  json out = {{"threads", s.threads}, {"sync_ns", s.dev.sync_ns}, {"device_keeps_core", s.dev.keeps_core}};
  const std::string other =
      best_of(t, [](const std::string& name, side is) { return name != "combining" && is != side::pump; });
  out["comparisons"].push_back(compared(s, t, "combining", other));
  const std::string pump = best_of(t, [](const std::string&, side is) { return is == side::pump; });
  const std::string ours = best_of(t, [](const std::string&, side is) { return is == side::ours; });
  if (!pump.empty()) out["comparisons"].push_back(compared(s, t, ours, pump));
  std::fflush(stdout);
  return out;
}

/// Every contender in turn, `repetitions` times. False: a run found something wrong.
bool run_all(const scenario& s, unsigned repetitions, table& t) {
  const std::vector<entrant> all = field_of();
  bool good = true;
  for (unsigned round = 0; round < repetitions; ++round) {
    fmt::print(stderr, "{} threads, {} ns per CMD_SYNC: round {} of {}\n", s.threads, s.dev.sync_ns, round + 1,
               repetitions);
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
      "ours / other: lists of 1 + CMD_SYNC, device on a thread that {}, {} interleaved runs of {} s, medians "
      "(quartiles), {} cores, load {}\n",
      o.device_keeps_core ? "keeps its core" : "yields", o.repetitions, o.seconds, cores(), load());
  for (const std::uint64_t sync_ns : o.sync_ns) {
    for (const std::uint32_t threads : o.threads) {
      const scenario s{threads, 1, {true, sync_ns, o.device_keeps_core}, seconds_for(o, threads), 0};
      table t;
      good = run_all(s, o.repetitions, t) && good;
      json judged = judge(s, t);
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

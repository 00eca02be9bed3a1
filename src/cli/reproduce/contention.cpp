// SPDX-License-Identifier: BSL-1.0
// The published contention tables beside the simulated machine, then what the same machine says where nothing was
// published: the library's own strategies, slower devices, up to 256 CPUs, and where the time goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "calibrate.hpp"
#include "experiments.hpp"
#include "output/chart.hpp"
#include "published.hpp"
#include "reproduce/published_contention.hpp"
#include "reproduce/reproduce.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

constexpr const char* before_name = "cmpxchg_loop/published";
constexpr const char* after_name = "owner_bits/published";
constexpr std::array many_cpus = {32U, 64U, 128U};

/// Few CPUs take more than 10 ms for a lap of the ring, and only then is no line fetched for the first time.
constexpr picoseconds time_for_few = 40'000'000'000;
constexpr unsigned few = 16;

/// Runs on the one machine, each made once.
class runs {
 public:
  explicit runs(const reproduce_input& in)
      : shape(in.machine), time_(static_cast<picoseconds>(in.p["contention.time_us"] * 1e6)) {
    if (in.p["contention.think_ns"] > 0)
      shape.think = static_cast<picoseconds>(std::llround(in.p["contention.think_ns"] * 1000));
  }

  const contention_result& at(const std::string& strategy, unsigned cpus) {
    const auto found = done_.find({strategy, cpus});
    if (found != done_.end()) return found->second;
    return done_[{strategy, cpus}] = run(shape, strategy, cpus, shape.think, 2);
  }
  [[nodiscard]] contention_result run(const topology& t, const std::string& strategy, unsigned cpus, picoseconds think,
                                      unsigned seeds) const {
    contention_options o;
    o.cpus = cpus;
    o.think = think;
    o.time = cpus <= few ? time_for_few / std::max(cpus / 2, 1U) + time_ : time_;
    o.warm_up = cpus <= few ? o.time / 3 : o.time / 5;
    return average_over_seeds(strategy, "msi", t, o, seeds);
  }

  topology shape;

 private:
  picoseconds time_;
  std::map<std::pair<std::string, unsigned>, contention_result> done_;
};

/// Guesses for a rate, from the figures that the machine is fitted to and from `at_32` CPUs of the same table of June.
std::vector<null_model> dull_rates(const topology& t, unsigned cpus, bool after) {
  const double at_32 = after ? june_2020[0].after : june_2020[0].before;
  std::vector<null_model> out = {{"June's at 32 CPUs, shared by all", at_32 * 32 / cpus},
                                 {"the device's limit, shared by all", device_ceiling(t, 1, true) / cpus}};
  for (const published_pair& p : june_2020)
    if (p.cpus == cpus) out.push_back({"the compare-exchange loop's in June", p.before});
  return out;
}

void add_table_figures(reproduction& r, runs& all, const published_table& table) {
  for (unsigned i = 0; i < table.count; ++i) {
    const published_pair& p = table.rows[i];
    for (const bool after : {false, true}) {
      const double published = after ? p.after : p.before;
      figure f{fmt::format("{}, {}, {} CPUs", table.when, after ? "owner bits" : "compare-exchange loop", p.cpus),
               "pairs per CPU per second", published, published,
               all.at(after ? after_name : before_name, p.cpus).per_cpu_per_second};
      if (table.fitted_on && (!after || p.cpus == 32)) {
        f.how = origin::fitted;
      } else {
        f.nulls = dull_rates(all.shape, p.cpus, after);
        if (after)
          f.nulls.push_back(
              {"the same factor as June's at 32 CPUs", p.before * june_2020[0].after / june_2020[0].before});
      }
      r.figures.push_back(std::move(f));
    }
  }
}

/// Three drives, as fast as they were with the compare-exchange loop: the think time is what makes it so.
void add_nvme(reproduction& r, runs& all, unsigned cpus) {
  const double wanted = nvme_before_kiops * 1000 / cpus;
  double low = 100'000;
  double high = 1e9;
  for (int i = 0; i < 10; ++i) {
    const double middle = std::sqrt(low * high);
    const auto x = all.run(all.shape, before_name, cpus, static_cast<picoseconds>(middle), 1);
    (x.per_cpu_per_second > wanted ? low : high) = middle;
  }
  const auto think = static_cast<picoseconds>(std::sqrt(low * high));
  const double own = all.run(all.shape, after_name, cpus, think, 2).per_cpu_per_second /
                     all.run(all.shape, before_name, cpus, think, 2).per_cpu_per_second;
  for (const double gain : nvme_gain) {
    figure f{fmt::format("NVMe, after over before ({})", gain == nvme_gain[0] ? "June" : "August"), "", gain, gain,
             own};
    f.nulls = {{"no gain", 1}, {"June's factor at 64 CPUs", june_2020[1].after / june_2020[1].before}};
    f.note = fmt::format("{} CPUs assumed, {:.1f} us between two I/Os fitted to {:.0f}K before; drives without limit",
                         cpus, static_cast<double>(think) / 1e6, nvme_before_kiops);
    r.figures.push_back(std::move(f));
  }
}

double share_of_claim(const contention_result& x) {
  double all = 0;
  for (unsigned p = 0; p < phases; ++p)
    if (static_cast<phase>(p) != phase::work) all += static_cast<double>(x.phase_time[p]);
  return 100 * static_cast<double>(x.phase_time[static_cast<unsigned>(phase::claim)]) / all;
}

void add_claims(reproduction& r, runs& all) {
  const auto& at_64 = all.at(before_name, 64);
  r.figures.push_back({"compare-exchanges per claim, 64 CPUs (\"success in about 1 in 12\")", "", published_attempts_64,
                       published_attempts_64, 1 / at_64.claims_that_succeed, origin::fitted});
  figure f{"compare-exchange loop's part of the issue function, 96 CPUs", "%", claim_share_percent, claim_share_percent,
           share_of_claim(all.at(before_name, 96))};
  f.nulls = {{"none", 0}, {"an equal part of each of its eight phases", 12.5}};
  std::string by_cpus;
  for (const unsigned cpus : {2U, 8U, 16U, 32U, 64U, 128U})
    by_cpus +=
        fmt::format("{}{:.0f} at {}", by_cpus.empty() ? "" : ", ", share_of_claim(all.at(before_name, cpus)), cpus);
  f.note = "contradicts the model: the load was not published; by CPUs: " + by_cpus;
  r.figures.push_back(std::move(f));
}

/// Where nothing was published: the library's own strategies beside the published ones.
void add_own(reproduction& r, runs& all) {
  std::vector<std::vector<std::string>> rows = {
      {"strategy", "CPUs", "per CPU/s", "syncs/list", "fairness", "attempts", "device busy"}};
  for (const unsigned cpus : many_cpus)
    for (const auto& s : compared_strategies()) {
      const contention_result& x = all.at(s, cpus);
      rows.push_back({s, fmt::format("{}", cpus), fmt::format("{:.0f}", x.per_cpu_per_second),
                      fmt::format("{:.3f}", x.syncs_per_list), fmt::format("{:.2f}", x.fairness),
                      fmt::format("{:.1f}", 1 / x.claims_that_succeed), fmt::format("{:.0f} %", 100 * x.device_busy)});
      r.json["simulated"].push_back({{"cpus", cpus},
                                     {"strategy", s},
                                     {"per_cpu_per_second", x.per_cpu_per_second},
                                     {"syncs_per_list", x.syncs_per_list},
                                     {"fairness", x.fairness},
                                     {"device_busy", x.device_busy},
                                     {"latency_ns", x.latency_ns}});
    }
  add_table(r, rows);
}

void add_rate_chart(reproduction& r, runs& all) {
  std::vector<chart_line> lines;
  for (const char* s : {before_name, after_name}) {
    chart_line l{fmt::format("{}, simulated", s), {}};
    for (const unsigned cpus : {2U, 4U, 8U, 16U, 32U, 64U, 96U, 128U})
      l.points.emplace_back(cpus, all.at(s, cpus).per_cpu_per_second);
    lines.push_back(l);
  }
  for (const published_table& t : published_tables)
    for (const bool after : {false, true}) {
      chart_line l{fmt::format("{}, {}", t.when, after ? "owner bits" : "compare-exchange"), {}, false, true};
      for (unsigned i = 0; i < t.count; ++i)
        l.points.emplace_back(t.rows[i].cpus, after ? t.rows[i].after : t.rows[i].before);
      lines.push_back(l);
    }
  r.html += line_chart({"map and unmap pairs per CPU per second", "CPUs", "per CPU per second", true, true}, lines);
}

void add_phases(reproduction& r, runs& all) {
  std::vector<std::string> names;
  for (unsigned p = 0; p < phases; ++p) names.emplace_back(phase_name(static_cast<phase>(p)));
  std::vector<stacked_bar> bars;
  for (const unsigned cpus : many_cpus)
    for (const auto& s : compared_strategies()) {
      const contention_result& x = all.at(s, cpus);
      stacked_bar b{fmt::format("{}, {} CPUs", s, cpus), {}};
      const double lists = static_cast<double>(std::max<std::uint64_t>(x.lists, 1));
      nlohmann::ordered_json j = {{"cpus", cpus}, {"strategy", s}};
      for (unsigned p = 0; p < phases; ++p) {
        b.parts.push_back(static_cast<double>(x.phase_time[p]) / lists / 1000);
        j["ns_per_list"][names[p]] = b.parts.back();
      }
      r.json["where_time_goes"].push_back(j);
      bars.push_back(b);
    }
  r.html += stacked_chart("Where a CPU's time goes, per list", "ns", names, bars);
}

/// Each strategy of the library over each published one where a CMD_SYNC takes longer than the calibrated machine's.
void add_slow_syncs(reproduction& r, const runs& all) {
  const auto published = strategies(role::published);
  std::vector<std::vector<std::string>> rows = {{"CMD_SYNC, ns", "CPUs", "strategy"}};
  for (const auto& p : published) rows[0].push_back("over " + p);
  for (const picoseconds sync : {picoseconds{1'000'000}, picoseconds{20'000'000}}) {
    const topology t = with_sync(all.shape, sync);
    for (const unsigned cpus : {8U, 64U}) {
      const auto rate = [&](const std::string& s) { return all.run(t, s, cpus, t.think, 1).per_cpu_per_second; };
      std::vector<double> of_published;
      for (const auto& p : published) of_published.push_back(rate(p));
      for (const auto& own : strategies(role::own)) {
        const double x = rate(own);
        nlohmann::ordered_json j = {{"sync_ns", static_cast<double>(sync) / 1000}, {"cpus", cpus}, {"strategy", own}};
        rows.push_back({fmt::format("{}", sync / 1000), fmt::format("{}", cpus), own});
        for (std::size_t p = 0; p < published.size(); ++p) {
          j["over"][published[p]] = x / of_published[p];
          rows.back().push_back(fmt::format("{:.2f}", x / of_published[p]));
        }
        r.json["sync_times"].push_back(j);
      }
    }
  }
  add_paragraph(r, "With other CMD_SYNC times, over each published one (nothing fitted again):");
  add_table(r, rows);
}

/// Past 128 CPUs the machine is given more sockets of the same kind.
void add_growth(reproduction& r, const runs& all) {
  std::vector<chart_line> rate;
  const std::array sizes = {2U, 8U, 32U, 128U, 256U};
  for (const auto& s : compared_strategies()) {
    chart_line total{s, {}};
    for (const unsigned cpus : sizes) {
      const auto x = all.run(grown(all.shape, cpus), s, cpus, all.shape.think, 1);
      total.points.emplace_back(cpus, x.per_cpu_per_second * cpus);
      r.json["growth"].push_back({{"cpus", cpus},
                                  {"strategy", s},
                                  {"lists_per_second", x.per_cpu_per_second * cpus},
                                  {"latency_ns", x.latency_ns}});
    }
    rate.push_back(total);
  }
  chart_line own{"device, a sync per list", {}, true};
  chart_line shared{"device, shared syncs", {}, true};
  chart_line transfer{"one transfer per list (random)", {}, true};
  for (const unsigned cpus : sizes) {
    own.points.emplace_back(cpus, device_ceiling(all.shape, 1, true));
    shared.points.emplace_back(cpus, device_ceiling(all.shape, 1, false));
    transfer.points.emplace_back(cpus, 1e12 / static_cast<double>(mean_transfer(grown(all.shape, cpus), cpus)));
  }
  for (const auto& l : {own, shared, transfer}) rate.push_back(l);
  r.html += line_chart({"Growth: lists per second, all CPUs", "CPUs", "lists per second", true, true}, rate);
}

}  // namespace

reproduction reproduce_contention(const reproduce_input& in) {
  runs all(in);
  reproduction r;
  for (const published_table& t : published_tables) add_table_figures(r, all, t);
  add_nvme(r, all, static_cast<unsigned>(in.p["contention.nvme_cpus"]));
  add_claims(r, all);
  add_figures(r, "Contention: pairs per CPU per second");
  add_paragraph(
      r,
      fmt::format("Simulated on \"{}\": the library's own queue, one command and one CMD_SYNC per list, completion by "
                  "MSI, {} ns of other work between lists, for every table. The machine's times are fitted to June's "
                  "figures marked so and to nothing else. August and September were measured with another harness, "
                  "which was not published: above 16 CPUs their compare-exchange loop is half as fast as June's with "
                  "the same name, so no one set of times can meet both.",
                  all.shape.name, all.shape.think / 1000));
  if (in.figures_only) return r;
  add_rate_chart(r, all);
  add_own(r, all);
  add_phases(r, all);
  add_slow_syncs(r, all);
  add_growth(r, all);
  r.json["parameters"] = to_json(all.shape);
  return r;
}

}  // namespace cmdq::cli

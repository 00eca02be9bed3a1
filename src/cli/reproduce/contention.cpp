// SPDX-License-Identifier: BSL-1.0
// The published contention table beside the simulated machine, then what the same machine says where nothing was
// published: the library's own strategy, slower devices, up to 256 CPUs, and where the time goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate.hpp"
#include "experiments.hpp"
#include "output/chart.hpp"
#include "reproduce/reproduce.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

constexpr std::array few_cpus = {1U, 2U, 4U, 8U, 16U};
constexpr std::array many_cpus = {32U, 64U, 128U};

/// Few CPUs take more than 10 ms for a lap of the ring, and only then is no line fetched for the first time.
constexpr picoseconds time_for_few = 40'000'000'000;

/// One configuration that was run.
struct measured {
  std::string strategy;
  unsigned cpus;
  contention_result r;
};

const char* kind_name(use k) { return k == use::fitted ? "fitted" : "predicted"; }

const published_rate* published_for(const std::string& strategy, unsigned cpus) {
  for (const auto& p : published_contention)
    if (p.strategy == strategy && p.cpus == cpus) return &p;
  return nullptr;
}

contention_result run_at(const topology& t, const std::string& strategy, unsigned cpus, picoseconds time,
                         unsigned seeds) {
  contention_options o;
  o.cpus = cpus;
  o.think = t.think;
  o.time = time;
  o.warm_up = cpus <= few_cpus.back() ? time / 3 : time / 5;
  return average_over_seeds(strategy, "msi", t, o, seeds);
}

std::vector<measured> run_table(const topology& t) {
  std::vector<measured> out;
  const auto add = [&](unsigned cpus, picoseconds time, unsigned seeds) {
    for (const auto& s : compared_strategies()) out.push_back({s, cpus, run_at(t, s, cpus, time, seeds)});
  };
  for (const unsigned cpus : few_cpus) add(cpus, time_for_few, 1);
  for (const unsigned cpus : many_cpus) add(cpus, 5'000'000'000, 4);
  return out;
}

nlohmann::ordered_json to_json(const measured& m) {
  nlohmann::ordered_json j = {
      {"cpus", m.cpus}, {"strategy", m.strategy}, {"per_cpu_per_second", m.r.per_cpu_per_second}};
  const published_rate* p = published_for(m.strategy, m.cpus);
  j["published"] = p == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(p->per_cpu_per_second);
  j["kind"] = p == nullptr ? "new" : kind_name(p->kind);
  j["relative_error"] = p == nullptr ? nlohmann::ordered_json()
                                     : nlohmann::ordered_json(m.r.per_cpu_per_second / p->per_cpu_per_second - 1);
  j["syncs_per_list"] = m.r.syncs_per_list;
  j["device_busy"] = m.r.device_busy;
  j["fairness"] = m.r.fairness;
  j["attempts_per_claim"] = 1 / m.r.claims_that_succeed;
  j["latency_ns"] = m.r.latency_ns;
  return j;
}

std::string published_text(const measured& m) {
  const published_rate* p = published_for(m.strategy, m.cpus);
  if (p == nullptr) return fmt::format("{:>10} {:>10} {:>8}", "-", "new", "");
  return fmt::format("{:>10.0f} {:>10} {:>+7.1f}%", p->per_cpu_per_second, kind_name(p->kind),
                     100 * (m.r.per_cpu_per_second / p->per_cpu_per_second - 1));
}

void add_table(reproduction& r, const std::vector<measured>& all) {
  r.text += fmt::format("{:>5} {:<22} {:>12} {:>10} {:>10} {:>8} {:>10} {:>9} {:>9} {:>7}\n", "CPUs", "strategy",
                        "per CPU/s", "published", "kind", "error", "syncs/list", "fairness", "attempts", "device");
  r.html +=
      "<table><tr><th>strategy</th><th>CPUs</th><th>published</th><th>simulated</th><th>kind</th><th>error</th>"
      "<th>syncs per list</th><th>fairness</th><th>device busy</th></tr>\n";
  for (const auto& m : all) {
    r.json["rows"].push_back(to_json(m));
    r.text += fmt::format("{:>5} {:<22} {:>12.0f} {} {:>10.3f} {:>9.2f} {:>9.1f} {:>6.0f}%\n", m.cpus, m.strategy,
                          m.r.per_cpu_per_second, published_text(m), m.r.syncs_per_list, m.r.fairness,
                          1 / m.r.claims_that_succeed, 100 * m.r.device_busy);
    const published_rate* p = published_for(m.strategy, m.cpus);
    r.html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.0f}</td><td>{}</td><td>{}</td><td>{:.3f}</td><td>{:.2f}</td><td>"
        "{:.0f} %</td></tr>\n",
        m.strategy, m.cpus, p == nullptr ? "" : fmt::format("{:.0f}", p->per_cpu_per_second), m.r.per_cpu_per_second,
        p == nullptr ? "new" : kind_name(p->kind),
        p == nullptr ? "" : fmt::format("{:+.1f} %", 100 * (m.r.per_cpu_per_second / p->per_cpu_per_second - 1)),
        m.r.syncs_per_list, m.r.fairness, 100 * m.r.device_busy);
  }
  r.html += "</table>\n";
}

void add_rate_chart(reproduction& r, const std::vector<measured>& all) {
  std::vector<chart_line> lines;
  for (const auto& s : compared_strategies()) {
    chart_line l{s, {}};
    for (const auto& m : all)
      if (m.strategy == s) l.points.emplace_back(m.cpus, m.r.per_cpu_per_second);
    lines.push_back(l);
  }
  for (const auto& s : strategies(role::published)) {
    chart_line l{s + ", measured", {}, false, true};
    for (const auto& p : published_contention)
      if (p.strategy == s) l.points.emplace_back(p.cpus, p.per_cpu_per_second);
    lines.push_back(l);
  }
  r.html += line_chart({"map and unmap pairs per CPU per second", "CPUs", "per CPU per second", true, true}, lines);
}

void add_phases(reproduction& r, const std::vector<measured>& all) {
  std::vector<std::string> names;
  for (unsigned p = 0; p < phases; ++p) names.emplace_back(phase_name(static_cast<phase>(p)));
  std::vector<stacked_bar> bars;
  for (const unsigned cpus : many_cpus)
    for (const auto& m : all) {
      if (m.cpus != cpus) continue;
      stacked_bar b{fmt::format("{}, {} CPUs", m.strategy, cpus), {}};
      const double lists = static_cast<double>(std::max<std::uint64_t>(m.r.lists, 1));
      nlohmann::ordered_json j = {{"cpus", cpus}, {"strategy", m.strategy}};
      for (unsigned p = 0; p < phases; ++p) {
        b.parts.push_back(static_cast<double>(m.r.phase_time[p]) / lists / 1000);
        j["ns_per_list"][names[p]] = b.parts.back();
      }
      r.json["where_time_goes"].push_back(j);
      bars.push_back(b);
    }
  r.html += stacked_chart("Where a CPU's time goes, per list", "ns", names, bars);
}

/// Each strategy of the library over each published one where a CMD_SYNC takes longer than the calibrated machine's.
void add_slow_syncs(reproduction& r, const topology& base) {
  const auto published = strategies(role::published);
  const std::string heads = fmt::format("{}", fmt::join(published, "</th><th>over "));
  r.text += fmt::format(
      "\nWith other CMD_SYNC times, over each published one (nothing refitted):\n{:>8} {:>5} {:<12} {:>24}\n",
      "sync ns", "CPUs", "strategy", fmt::join(published, " "));
  r.html += fmt::format(
      "<table><tr><th>CMD_SYNC, ns</th><th>CPUs</th><th>strategy</th><th>over {}</th><th>fairness</th></tr>\n", heads);
  for (const picoseconds sync : {picoseconds{169'000}, picoseconds{1'000'000}, picoseconds{20'000'000}}) {
    const topology t = with_sync(base, sync);
    for (const unsigned cpus : {1U, 2U, 4U, 8U, 32U, 64U, 128U}) {
      const picoseconds time = (cpus <= few_cpus.back() ? time_for_few : 2'000'000'000) + sync * 4 * cpus;
      std::vector<double> of_published;
      for (const auto& p : published) of_published.push_back(run_at(t, p, cpus, time, 1).per_cpu_per_second);
      for (const auto& own : strategies(role::own)) {
        const auto x = run_at(t, own, cpus, time, 1);
        nlohmann::ordered_json j = {{"sync_ns", static_cast<double>(sync) / 1000}, {"cpus", cpus}, {"strategy", own}};
        r.text += fmt::format("{:>8} {:>5} {:<12}", sync / 1000, cpus, own);
        r.html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>", sync / 1000, cpus, own);
        for (std::size_t p = 0; p < published.size(); ++p) {
          const double over = x.per_cpu_per_second / of_published[p];
          j["over"][published[p]] = over;
          r.text += fmt::format(" {:>{}.2f}", over, published[p].size());
          r.html += fmt::format("<td>{:.2f}</td>", over);
        }
        j["fairness"] = x.fairness;
        r.json["sync_times"].push_back(j);
        r.text += "\n";
        r.html += fmt::format("<td>{:.2f}</td></tr>\n", x.fairness);
      }
    }
  }
  r.html += "</table>\n";
}

/// 1 to 256 CPUs: past 128 the machine is given more sockets of the same kind.
void add_growth(reproduction& r, const topology& base) {
  std::vector<chart_line> rate;
  std::vector<chart_line> cost;
  const std::array sizes = {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 192U, 256U};
  for (const auto& s : compared_strategies()) {
    chart_line total{s, {}};
    chart_line each{s, {}};
    for (const unsigned cpus : sizes) {
      const auto x = run_at(grown(base, cpus), s, cpus, 2'000'000'000, 1);
      total.points.emplace_back(cpus, x.per_cpu_per_second * cpus);
      each.points.emplace_back(cpus, x.latency_ns);
      r.json["growth"].push_back({{"cpus", cpus},
                                  {"strategy", s},
                                  {"lists_per_second", x.per_cpu_per_second * cpus},
                                  {"latency_ns", x.latency_ns}});
    }
    rate.push_back(total);
    cost.push_back(each);
  }
  chart_line own{"device, a sync per list", {}, true};
  chart_line shared{"device, shared syncs", {}, true};
  chart_line transfer{"one transfer per list (random)", {}, true};
  for (const unsigned cpus : sizes) {
    own.points.emplace_back(cpus, device_ceiling(base, 1, true));
    shared.points.emplace_back(cpus, device_ceiling(base, 1, false));
    if (cpus >= 2)
      transfer.points.emplace_back(cpus, 1e12 / static_cast<double>(mean_transfer(grown(base, cpus), cpus)));
  }
  for (const auto& l : {own, shared, transfer}) rate.push_back(l);
  r.html += line_chart({"Growth: lists per second, all CPUs", "CPUs", "lists per second", true, true}, rate);
  r.html += line_chart({"Growth: time of one list, issue to completion", "CPUs", "ns", true, true}, cost);
}

}  // namespace

reproduction reproduce_contention() {
  const topology t = load_topology("arm-server-128");
  const auto all = run_table(t);
  reproduction r;
  r.html = fmt::format(
      "<p>Simulated on the topology \"{}\": the library's own queue, one command and one CMD_SYNC per list, completion "
      "by "
      "MSI, {} ns of other work between lists. \"fitted\": a point that the machine's parameters were fitted to; "
      "\"predicted\": held out; \"new\": nothing was published. No such machine was measured here.</p>\n",
      escaped(t.name), t.think / 1000);
  add_table(r, all);
  add_rate_chart(r, all);
  add_phases(r, all);
  add_slow_syncs(r, t);
  add_growth(r, t);
  r.json["parameters"] = to_json(t);
  return r;
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// `orderings` and `wrong`: everything here must be rejected.
#include "commands.hpp"
#include "expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cmdq::checks {

namespace {

/// One mutant of one row and the scenarios that are tried on it, the known one first.
struct trial {
  mutant of;
  const char* explained = nullptr;
  std::vector<const registered*> candidates;
  std::size_t next = 0;
  answer last;
  const registered* rejected_by = nullptr;
};

bool same(const mutant& a, const mutant& b) { return a.row == b.row && a.weaker == b.weaker; }

trial make_trial(const mutant& m) {
  trial t;
  t.of = m;
  for (const explanation& e : known_explanations()) {
    if (same(e.of, m)) t.explained = e.reason;
  }
  if (t.explained != nullptr) return t;
  for (const rejection& r : known_rejections()) {
    if (!same(r.of, m)) continue;
    if (const registered* s = find_scenario(r.scenario)) t.candidates.push_back(s);
  }
  if (!t.candidates.empty()) return t;
  for (const registered& r : all_scenarios()) {
    if (r.about->expected == ending::passed) t.candidates.push_back(&r);
  }
  return t;
}

job next_job(trial& t, std::size_t id) {
  const facts& about = *t.candidates[t.next++]->about;
  return {id, child_arguments(about, default_request(about), t.of), 1};
}

answer row_entry(site s, const trial* t) {
  const ordering_row& row = ordering_table[static_cast<std::size_t>(s)];
  answer e = {{"site", row.name},    {"order", name(row.required)}, {"partner", row.partner}, {"reason", row.why},
              {"mutant", nullptr},   {"rejected_by", nullptr},      {"iterations", 0},        {"seconds", 0.0},
              {"explained", nullptr}};
  if (t == nullptr) {
    e["explained"] = "relaxed: nothing weaker exists";
    return e;
  }
  e["mutant"] = name(t->of.weaker);
  if (t->explained != nullptr) e["explained"] = t->explained;
  if (t->rejected_by != nullptr) {
    e["rejected_by"] = fmt::format("{}: {}", t->rejected_by->about->name, t->last.value("result", ""));
    e["iterations"] = t->last.value("executions", std::uint64_t{0});
    e["seconds"] = t->last.value("seconds", 0.0);
  }
  return e;
}

bool accounted_for(const answer& e) { return !e["rejected_by"].is_null() || !e["explained"].is_null(); }

std::string text_of(const answer& e, const char* key) { return e[key].is_null() ? "" : e[key].get<std::string>(); }

void print_row(const answer& e) {
  const std::string verdict = !accounted_for(e)            ? std::string("NOT REJECTED")
                              : e["rejected_by"].is_null() ? "explained: " + text_of(e, "explained")
                                                           : "rejected by " + text_of(e, "rejected_by");
  fmt::print("{:<20} {:<8} -> {:<8} {} ({} executions, {:.1f} s)\n", text_of(e, "site"), text_of(e, "order"),
             text_of(e, "mutant"), verdict, e["iterations"].get<std::uint64_t>(), e["seconds"].get<double>());
}

std::string markdown_table(const std::vector<answer>& rows) {
  std::string out =
      "| site | order | partner | why | weaker | rejected by, or explained |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const answer& e : rows) {
    const std::string verdict = e["rejected_by"].is_null() ? text_of(e, "explained") : text_of(e, "rejected_by");
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", text_of(e, "site"), text_of(e, "order"),
                       text_of(e, "partner"), text_of(e, "reason"), text_of(e, "mutant"), verdict);
  }
  return out;
}

/// A scenario proves nothing about a mutant unless it passes without it.
void drop_failing_candidates(std::vector<trial>& trials, const pool_options& pool) {
  std::vector<const registered*> used;
  for (const trial& t : trials)
    for (const registered* r : t.candidates)
      if (std::find(used.begin(), used.end(), r) == used.end()) used.push_back(r);
  std::vector<job> jobs;
  for (std::size_t i = 0; i < used.size(); ++i) {
    jobs.push_back({i, child_arguments(*used[i]->about, default_request(*used[i]->about), std::nullopt), 1});
  }
  run_jobs(jobs, pool, [&](const job& j, const answer& a) -> std::optional<job> {
    if (a.value("result", "") == "passed") return std::nullopt;
    fmt::print("{} fails without any mutant: it is not used\n", used[j.id]->about->name);
    for (trial& t : trials) std::erase(t.candidates, used[j.id]);
    return std::nullopt;
  });
}

/// Runs every trial: the next candidate follows while none has rejected the mutant.
void run_trials(std::vector<trial>& trials, const pool_options& pool) {
  std::vector<job> jobs;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].candidates.empty()) jobs.push_back(next_job(trials[i], i));
  }
  run_jobs(jobs, pool, [&](const job& j, const answer& a) -> std::optional<job> {
    trial& t = trials[j.id];
    t.last = a;
    const std::string result = a.value("result", "");
    const bool rejected = result != "passed" && result != "crashed" && result != "ran too long";
    if (rejected) t.rejected_by = t.candidates[t.next - 1];
    if (rejected || t.next == t.candidates.size()) {
      print_row(row_entry(t.of.row, &t));
      std::fflush(stdout);
      return std::nullopt;
    }
    return next_job(t, j.id);
  });
}

/// Safety: which of the checks sees it first depends on the schedule. So do deadlock and livelock.
bool is_rejection(const std::string& result, ending expected) {
  const bool live = expected == ending::deadlock || expected == ending::livelock;
  if (live) return result == name(ending::deadlock) || result == name(ending::livelock);
  return result == name(ending::assertion) || result == name(ending::data_race);
}

}  // namespace

int run_orderings(const table_options& options) {
  std::vector<trial> trials;
  for (const mutant& m : all_mutants()) {
    if (std::string_view(name(m.row)).find(options.pattern) != std::string_view::npos) trials.push_back(make_trial(m));
  }
  drop_failing_candidates(trials, options.pool);
  run_trials(trials, options.pool);

  std::vector<answer> rows;
  std::size_t open = 0;
  for (std::size_t i = 0; i < site_count; ++i) {
    const auto s = static_cast<site>(i);
    if (std::string_view(name(s)).find(options.pattern) == std::string_view::npos) continue;
    if (one_step_weaker(ordering_table[i].required).empty()) rows.push_back(row_entry(s, nullptr));
    for (const trial& t : trials) {
      if (t.of.row == s) rows.push_back(row_entry(s, &t));
    }
  }
  for (const answer& e : rows) open += accounted_for(e) ? 0 : 1;
  if (!options.json.empty()) write_file(options.json, answer(rows).dump(2));
  if (!options.markdown.empty()) write_file(options.markdown, markdown_table(rows));
  fmt::print("{} rows, {} mutants, {} neither rejected nor explained\n", site_count, trials.size(), open);
  return open == 0 ? 0 : 1;
}

int run_wrong(const table_options& options) {
  std::vector<const registered*> variants;
  for (const registered& r : all_scenarios()) {
    const bool wanted = std::string_view(r.about->name).find(options.pattern) != std::string_view::npos;
    if (wanted && r.about->expected != ending::passed) variants.push_back(&r);
  }
  std::vector<job> jobs;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    jobs.push_back({i, child_arguments(*variants[i]->about, default_request(*variants[i]->about), std::nullopt), 1});
  }
  std::vector<answer> rows(variants.size());
  std::size_t missed = 0;
  run_jobs(jobs, options.pool, [&](const job& j, const answer& a) -> std::optional<job> {
    const facts& f = *variants[j.id]->about;
    const std::string result = a.value("result", "");
    const bool rejected = is_rejection(result, f.expected);
    rows[j.id] = {
        {"name", f.name},
        {"bug", f.proves},
        {"rejected_by", rejected ? answer(fmt::format("{} search: {}", name(f.how), result)) : answer(nullptr)},
        {"iterations", a.value("executions", std::uint64_t{0})},
        {"seconds", a.value("seconds", 0.0)}};
    missed += rejected ? 0 : 1;
    fmt::print("{:<12} {:<44} {} ({} executions, {:.1f} s){}\n", rejected ? "rejected" : "NOT REJECTED", f.name, result,
               rows[j.id]["iterations"].get<std::uint64_t>(), rows[j.id]["seconds"].get<double>(),
               rejected ? "" : fmt::format(", expected {}", name(f.expected)));
    std::fflush(stdout);
    return std::nullopt;
  });
  if (!options.json.empty()) write_file(options.json, answer(rows).dump(2));
  fmt::print("{} wrong variants, {} not rejected as expected\n", rows.size(), missed);
  return missed == 0 ? 0 : 1;
}

}  // namespace cmdq::checks

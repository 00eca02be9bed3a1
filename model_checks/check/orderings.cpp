// SPDX-License-Identifier: BSL-1.0
// `orderings`: each row of the table, one step weaker, for each of those who use it: rejected by a scenario, or why
// not.
#include "commands.hpp"
#include "expectations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace cmdq::checks {

namespace {

/// Executions of a scenario after which it is known which rows it uses.
constexpr std::uint64_t executions_for_use = 40;

/// Rows, and the scenarios in which each of those who use them passes them.
using scenarios = std::vector<const registered*>;
using use_table = std::map<std::string, std::map<site, scenarios>>;

/// One mutant, one who uses its row, and the scenarios that are tried on it, the known one first.
struct trial {
  mutant of;
  std::string user;
  const char* explained = nullptr;
  scenarios candidates;
  std::size_t next = 0;
  answer last;
  const registered* rejected_by = nullptr;
};

bool is(const mutant& m, const rejection& r) {
  return std::string_view(name(m.row)) == r.row && std::string_view(name(m.weaker)) == r.weaker;
}

const registered* known_scenario(const mutant& m, const std::string& user) {
  for (const rejection& r : known_rejections())
    if (is(m, r) && user == r.user) return find_scenario(r.scenario);
  return nullptr;
}

const char* known_reason(const mutant& m, const std::string& user) {
  for (const explanation& e : known_explanations())
    if (e.of.row == m.row && e.of.weaker == m.weaker && user.find(e.users) != std::string::npos) return e.reason;
  return nullptr;
}

/// A few executions of each scenario tell which rows it passes.
use_table rows_in_use(const pool_options& pool) {
  std::vector<job> jobs;
  const std::vector<registered>& all = all_scenarios();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].about->expected != ending::passed) continue;
    request few = default_request(*all[i].about);
    few.how = schedule::random;
    few.iterations = executions_for_use;
    jobs.push_back({i, child_arguments(*all[i].about, few, std::nullopt), 1});
  }
  std::map<std::size_t, answer> used;
  run_jobs(jobs, pool, [&](const job& j, const answer& a) {
    used[j.id] = a.value("sites", answer::object());
    return std::optional<job>();
  });
  use_table table;
  for (const auto& [i, sites] : used)
    for (const auto& row : sites.items())
      if (const auto s = site_from(row.key())) table[user_of(all[i].about->name)][*s].push_back(&all[i]);
  return table;
}

/// Sequentially consistent rows are so for what a call leaves to others (edge [H]): such a mutant cannot be seen where
/// nobody leaves anything, so a search spares itself those scenarios.
scenarios worth_trying(const mutant& m, const std::map<site, scenarios>& uses) {
  const auto found = uses.find(m.row);
  scenarios out = found == uses.end() ? scenarios() : found->second;
  if (m.weaker != order::acq_rel) return out;
  std::set<const registered*> leaving;
  for (const site s : {site::left_add, site::line_gone, site::park_fence, site::unmap_fence, site::atc_look_fence})
    if (const auto at = uses.find(s); at != uses.end()) leaving.insert(at->second.begin(), at->second.end());
  std::erase_if(out, [&](const registered* r) { return !leaving.contains(r); });
  return out;
}

std::vector<trial> make_trials(const table_options& options, const use_table& table) {
  std::vector<trial> trials;
  for (const mutant& m : all_mutants()) {
    if (std::string_view(name(m.row)).find(options.pattern) == std::string_view::npos) continue;
    for (const auto& [user, uses] : table) {
      const registered* known = known_scenario(m, user);
      if (user.find(options.user) == std::string::npos ||
          (known == nullptr && (options.known || !uses.contains(m.row))))
        continue;
      trial t{m, user, known_reason(m, user), {}, 0, {}, nullptr};
      if (known != nullptr) t.candidates = {known};
      if (known == nullptr && options.search && (t.explained == nullptr || options.doubt))
        t.candidates = worth_trying(m, uses);
      trials.push_back(std::move(t));
    }
  }
  return trials;
}

job next_job(trial& t, std::size_t id) {
  const facts& about = *t.candidates[t.next++]->about;
  return {id, child_arguments(about, default_request(about), t.of), 1};
}

bool accounted_for(const answer& e) { return !e["rejected_by"].is_null() || !e["explained"].is_null(); }

std::string text_of(const answer& e, const char* key) { return e[key].is_null() ? "" : e[key].get<std::string>(); }

answer row_entry(site s, const trial* t) {
  const ordering_row& row = ordering_table[static_cast<std::size_t>(s)];
  answer e = {{"site", row.name},    {"order", name(row.required)}, {"partner", row.partner},
              {"reason", row.why},   {"mutant", nullptr},           {"user", nullptr},
              {"scenario", nullptr}, {"rejected_by", nullptr},      {"iterations", 0},
              {"seconds", 0.0},      {"explained", nullptr}};
  if (t == nullptr) {
    e["explained"] = "relaxed: nothing weaker exists";
    return e;
  }
  e["mutant"] = name(t->of.weaker);
  e["user"] = t->user;
  if (t->explained != nullptr) e["explained"] = t->explained;
  if (t->rejected_by != nullptr) {
    e["scenario"] = t->rejected_by->about->name;
    e["rejected_by"] = fmt::format("{}: {}", t->rejected_by->about->name, t->last.value("result", ""));
    e["iterations"] = t->last.value("executions", std::uint64_t{0});
    e["seconds"] = t->last.value("seconds", 0.0);
  }
  return e;
}

void print_row(const answer& e) {
  const std::string verdict = !accounted_for(e)            ? std::string("NOT REJECTED")
                              : e["rejected_by"].is_null() ? "explained: " + text_of(e, "explained")
                                                           : "rejected by " + text_of(e, "rejected_by");
  fmt::print("{:<18} {:<8} -> {:<8} {:<24} {} ({} executions, {:.1f} s)\n", text_of(e, "site"), text_of(e, "order"),
             text_of(e, "mutant"), text_of(e, "user"), verdict, e["iterations"].get<std::uint64_t>(),
             e["seconds"].get<double>());
  std::fflush(stdout);
}

/// Runs every trial: the next candidate follows while none has rejected the mutant.
void run_trials(std::vector<trial>& trials, const pool_options& pool) {
  std::vector<job> jobs;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (!trials[i].candidates.empty()) jobs.push_back(next_job(trials[i], i));
  run_jobs(jobs, pool, [&](const job& j, const answer& a) -> std::optional<job> {
    trial& t = trials[j.id];
    t.last = a;
    const std::string result = a.value("result", "");
    const bool rejected = result != "passed" && result != "crashed" && result != "ran too long";
    if (rejected) t.rejected_by = t.candidates[t.next - 1];
    if (!rejected && t.next != t.candidates.size()) return next_job(t, j.id);
    print_row(row_entry(t.of.row, &t));
    return std::nullopt;
  });
}

std::string markdown_table(const std::vector<answer>& rows) {
  std::string out =
      "| site | order | partner | why | weaker | rejected by, or explained |\n| --- | --- | --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < rows.size();) {
    const answer& e = rows[i];
    std::vector<std::pair<std::string, std::vector<std::string>>> verdicts;
    for (; i < rows.size() && rows[i]["site"] == e["site"] && rows[i]["mutant"] == e["mutant"]; ++i) {
      const std::string v = text_of(rows[i], rows[i]["rejected_by"].is_null() ? "explained" : "rejected_by");
      auto at = std::find_if(verdicts.begin(), verdicts.end(), [&](const auto& known) { return known.first == v; });
      if (at == verdicts.end()) at = verdicts.insert(at, {v, {}});
      if (!rows[i]["user"].is_null() && rows[i]["rejected_by"].is_null())
        at->second.push_back(text_of(rows[i], "user"));
    }
    std::string cell;
    for (const auto& [verdict, users] : verdicts)
      cell +=
          fmt::format("{}{}{}{}", cell.empty() ? "" : "; ", fmt::join(users, ", "), users.empty() ? "" : ": ", verdict);
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", text_of(e, "site"), text_of(e, "order"),
                       text_of(e, "partner"), text_of(e, "reason"), text_of(e, "mutant"), cell);
  }
  return out;
}

/// Lines for orderings_found.inc.
std::string found_table(const std::vector<answer>& rows) {
  std::string out =
      "// SPDX-License-Identifier: BSL-1.0\n// Row, what it is weakened to, who uses it, and the scenario that rejects "
      "that: `cmdq-check orderings --search --record`.";
  for (const answer& e : rows)
    if (!e["scenario"].is_null())
      out += fmt::format("\n{{\"{}\", \"{}\", \"{}\", \"{}\"}},", text_of(e, "site"), text_of(e, "mutant"),
                         text_of(e, "user"), text_of(e, "scenario"));
  return out;
}

}  // namespace

int run_orderings(const table_options& options) {
  std::vector<trial> trials = make_trials(options, rows_in_use(options.pool));
  run_trials(trials, options.pool);

  std::vector<answer> rows;
  std::size_t open = 0;
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < site_count; ++i) {
    const auto s = static_cast<site>(i);
    if (std::string_view(name(s)).find(options.pattern) == std::string_view::npos) continue;
    if (one_step_weaker(ordering_table[i].required).empty()) rows.push_back(row_entry(s, nullptr));
    for (const trial& t : trials)
      if (t.of.row == s) rows.push_back(row_entry(s, &t));
  }
  for (const answer& e : rows) {
    rejected += e["rejected_by"].is_null() ? 0 : 1;
    if (accounted_for(e)) continue;
    ++open;
    print_row(e);
  }
  for (const mutant& m : all_mutants()) {
    const bool wanted = std::string_view(name(m.row)).find(options.pattern) != std::string_view::npos;
    if (!wanted || options.known || !options.user.empty() ||
        std::any_of(trials.begin(), trials.end(), [&](const trial& t) { return t.of.row == m.row; }))
      continue;
    ++open;
    fmt::print("{}: no scenario uses it\n", name(m.row));
  }
  if (!options.json.empty()) write_file(options.json, answer(rows).dump(2));
  if (!options.markdown.empty()) write_file(options.markdown, markdown_table(rows));
  if (!options.record.empty()) write_file(options.record, found_table(rows));
  fmt::print("{} rows, {} mutants by user: {} rejected, {} explained, {} neither\n", site_count, trials.size(),
             rejected, trials.size() - rejected - open, open);
  return open == 0 ? 0 : 1;
}

}  // namespace cmdq::checks

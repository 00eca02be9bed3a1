// SPDX-License-Identifier: BSL-1.0
// `wrong`: everything here must be rejected.
#include "commands.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cmdq::checks {

namespace {

/// Safety: which of the checks sees it first depends on the schedule. So do deadlock and livelock.
bool is_rejection(const std::string& result, ending expected) {
  const bool live = expected == ending::deadlock || expected == ending::livelock;
  if (live) return result == name(ending::deadlock) || result == name(ending::livelock);
  return result == name(ending::assertion) || result == name(ending::data_race);
}

}  // namespace

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

// SPDX-License-Identifier: BSL-1.0
// cmdq-check: explores the shipped headers, under Relacy or completely under sequential consistency. Exit status 0: as
// expected, 1: not, 2: bad usage.
#include "commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <thread>

namespace {

using namespace cmdq::checks;

const std::map<std::string, schedule> schedules = {
    {"full", schedule::full}, {"bounded", schedule::bounded}, {"random", schedule::random}};

void add_pool(CLI::App& sub, pool_options& pool) {
  pool.jobs = std::max(1U, std::thread::hardware_concurrency());
  sub.add_option("--jobs", pool.jobs, "explorations at once")->check(CLI::Range(1U, 1024U));
  sub.add_option("--timeout", pool.timeout_s, "seconds for one exploration")->check(CLI::Range(1U, 1000000U));
}

std::string parse_shard(const std::string& text, run_options& options) {
  unsigned i = 0;
  unsigned n = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%u/%u%c", &i, &n, &rest) != 2 || n == 0 || i == 0 || i > n) {
    return fmt::format("'{}': a shard is I/N with 1 <= I <= N", text);
  }
  options.shard = i;
  options.shards = n;
  return {};
}

/// Options of one exploration: `replay` and the children.
struct single_cli {
  std::optional<schedule> how;
  std::optional<unsigned> bound;
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> iterations;
  std::string weaken;
  single_options out;

  void add(CLI::App& sub) {
    sub.add_option("scenario", out.scenario, "its name")->required();
    sub.add_option("--schedule", how)->transform(CLI::CheckedTransformer(schedules));
    sub.add_option("--bound", bound, "bounded: preemptions and stale reads in one execution");
    sub.add_option("--first", first, "random: first iteration");
    sub.add_option("--iterations", iterations, "random: how many; else: stop after so many");
    sub.add_option("--state", out.how.state, "the failing execution, as printed by the failed run");
    sub.add_option("--weaken", weaken, "row=order, for example valid_mark=relaxed");
  }
  const single_options& get() {
    const registered* what = find_scenario(out.scenario);
    if (what == nullptr)
      throw CLI::ValidationError(fmt::format("no scenario '{}'; see: cmdq-check list", out.scenario));
    const std::string state = out.how.state;
    out.how = default_request(*what->about);
    out.how.state = state;
    if (how && *how != out.how.how) out.how.iterations = *how == schedule::random ? what->about->iterations : 0;
    if (how) out.how.how = *how;
    if (bound) out.how.bound = *bound;
    if (first) out.how.first = *first;
    if (iterations) out.how.iterations = *iterations;
    if (!weaken.empty()) {
      out.weaken = mutant_from(weaken);
      if (!out.weaken) throw CLI::ValidationError(fmt::format("'{}': not a row=order of the table", weaken));
    }
    return out;
  }
};

struct program {
  CLI::App app{"Explores the command queue"};
  run_options run;
  table_options orderings;
  table_options wrong;
  exhaust_options complete;
  exhaust_child_options complete_child;
  single_cli replay_cli;
  single_cli child_cli;
  std::vector<std::string> files;
  std::string merged;
  CLI::App* list_command = app.add_subcommand("list", "every scenario: what it proves and its bounds");
  CLI::App* run_command = app.add_subcommand("run", "explore the correct scenarios");
  CLI::App* replay_command = app.add_subcommand("replay", "show the failing execution of one scenario");
  CLI::App* orderings_command = app.add_subcommand("orderings", "weaken each row of the table of orderings");
  CLI::App* wrong_command = app.add_subcommand("wrong", "known bugs, each of which must be found");
  CLI::App* exhaust_command = app.add_subcommand("exhaust", "every interleaving, sequentially consistent");
  CLI::App* exhaust_child_command = app.add_subcommand("exhaust-child", "one search, answered as JSON")->group("");
  CLI::App* merge_command = app.add_subcommand("merge", "join the results of all shards of a run");
  CLI::App* child_command = app.add_subcommand("child", "one exploration, answered as JSON")->group("");

  program() {
    app.require_subcommand(1);
    run_command->add_option("pattern", run.pattern, "part of the scenarios' names");
    run_command->add_option("--schedule", run.how)->transform(CLI::CheckedTransformer(schedules));
    run_command->add_option("--iterations", run.iterations, "random: how many; else: stop after so many");
    run_command->add_option("--bound", run.bound, "bounded: preemptions and stale reads in one execution");
    run_command->add_option("--seed", run.seed, "random")->check(CLI::Range(0U, seeds - 1));
    run_command->add_option_function<std::string>(
        "--shard",
        [this](const std::string& text) {
          const std::string wrong_shard = parse_shard(text, run);
          if (!wrong_shard.empty()) throw CLI::ValidationError("--shard", wrong_shard);
        },
        "I/N: this part of the work");
    run_command->add_option("--json", run.json, "write the results here ('-': standard output)");
    run_command->add_option("--record", run.record, "write the executions counted here, as recorded_counts.inc");
    add_pool(*run_command, run.pool);
    for (auto [sub, options] : {std::pair(orderings_command, &orderings), std::pair(wrong_command, &wrong)}) {
      sub->add_option("pattern", options->pattern, "part of the names");
      sub->add_option("--json", options->json, "write the results here ('-': standard output)");
      add_pool(*sub, options->pool);
    }
    orderings_command->add_option("--markdown", orderings.markdown, "write the table as Markdown here");
    orderings_command->add_option("--user", orderings.user, "part of the names of those who use a row");
    orderings_command->add_flag("--known", orderings.known, "only where a scenario is known that rejects");
    orderings_command->add_flag("--search", orderings.search, "look for a scenario where none is known: an hour or so");
    orderings_command->add_flag("--doubt", orderings.doubt,
                                "with --search: also where it is explained why there is none");
    orderings_command->add_option("--record", orderings.record,
                                  "write the scenarios found here, as orderings_found.inc");
    merge_command->add_option("files", files, "results of run --json, one for each shard")->required();
    merge_command->add_option("--json", merged, "write the joint result here");
    add_exhaust();
    replay_cli.add(*replay_command);
    child_cli.add(*child_command);
  }

  void add_exhaust() {
    CLI::App& sub = *exhaust_command;
    sub.add_option("pattern", complete.pattern, "part of the names");
    sub.add_flag("--deep", complete.deep, "also those that take minutes to hours");
    sub.add_flag("--list", complete.list, "say what each proves, and its bounds");
    sub.add_option("--cut", complete.cut, "seconds after which a search is cut, which is then not complete");
    sub.add_option("--json", complete.json, "write the results here ('-': standard output)");
    sub.add_option("--record", complete.record, "write the executions counted here, as exhaust_counts.inc");
    add_pool(sub, complete.pool);
    CLI::App& child = *exhaust_child_command;
    child.add_option("scenario", complete_child.scenario)->required();
    child.add_flag("--sound", complete_child.sound);
    child.add_option("--executions", complete_child.executions);
    child.add_option("--cut", complete_child.cut);
  }

  int execute() {
    if (*exhaust_command) return exhaust(complete);
    if (*exhaust_child_command) return exhaust_child(complete_child);
    if (*list_command) return list_scenarios();
    if (*run_command) return run_correct(run);
    if (*orderings_command) return run_orderings(orderings);
    if (*wrong_command) return run_wrong(wrong);
    if (*merge_command) return merge_runs(files, merged);
    if (*replay_command) return cmdq::checks::replay(replay_cli.get());
    return run_child(child_cli.get());
  }
};

}  // namespace

int main(int argc, char** argv) {
  program p;
  try {
    p.app.parse(argc, argv);
    return p.execute();
  } catch (const CLI::ParseError& e) {
    return p.app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "cmdq-check: {}\n", e.what());
    return 2;
  }
}

// SPDX-License-Identifier: BSL-1.0
// `cmdq replay`: recorded command streams through the queue into the modelled device, for every combination of options.
#include <unistd.h>

#include <cmdq/queue/options.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "commands.hpp"
#include "replay/run.hpp"

namespace cmdq::cli {

namespace {

/// The options as given; those that may name several values span a table of runs.
struct replay_options {
  std::vector<std::string> files;
  std::vector<std::string> strategies{"combining"};
  std::vector<std::string> completions{"cons"};
  std::vector<std::uint32_t> threads{4};
  std::vector<std::uint32_t> entries{256};
  setup common;
  std::string json;
  bool skip_refused = false;
};

struct finished_run {
  std::string stream;
  setup with;
  report result;
};

std::vector<setup> combinations(const replay_options& o) {
  std::vector<setup> all;
  for (const std::string& strategy : o.strategies)
    for (const std::string& completion : o.completions)
      for (const std::uint32_t threads : o.threads)
        for (const std::uint32_t entries : o.entries) {
          setup s = o.common;
          s.strategy = strategy;
          s.completion = completion;
          s.threads = threads;
          s.entries = entries;
          all.push_back(s);
        }
  return all;
}

unsigned cores() { return std::max(1U, std::thread::hardware_concurrency()); }

bool oversubscribed(const setup& s) { return s.threads + (s.device == "thread" ? 1 : 0) > cores(); }

std::string verdict(const finished_run& r) {
  if (!r.result.refused.empty()) return "refused";
  if (!r.result.failed.empty()) return "FAILED";
  return oversubscribed(r.with) ? "passed, oversubscribed" : "passed";
}

void print_table(const std::vector<finished_run>& runs) {
  std::size_t wide = 6;
  for (const finished_run& r : runs) wide = std::max(wide, r.stream.size());
  fmt::print("{:<{}}  {:<12} {:<4} {:>7} {:>7} {:>7} {:>8} {:>7} {:>11} {:>10} {:>10} {:>8} {:>9}  checks\n", "stream",
             wide, "strategy", "sync", "threads", "entries", "lists", "commands", "syncs", "PROD writes", "lists/PROD",
             "CONS reads", "retries", "time");
  for (const finished_run& r : runs) {
    const report& s = r.result;
    fmt::print("{:<{}}  {:<12} {:<4} {:>7} {:>7} ", r.stream, wide, r.with.strategy, r.with.completion, r.with.threads,
               r.with.entries);
    if (s.refused.empty())
      fmt::print("{:>7} {:>8} {:>7} {:>11} {:>10.2f} {:>10} {:>8} {:>6.1f} ms  {}\n", s.lists, s.commands, s.syncs,
                 s.prod_writes, s.lists_per_prod_write(), s.cons_reads, s.retries, s.seconds * 1e3, verdict(r));
    else
      fmt::print("{:>7} {:>8} {:>7} {:>11} {:>10} {:>10} {:>8} {:>9}  {}\n", "-", "-", "-", "-", "-", "-", "-", "-",
                 verdict(r));
  }
}

/// What each failure and refusal is about, once each.
void print_reasons(const std::vector<finished_run>& runs) {
  for (const finished_run& r : runs) {
    const std::string& why = r.result.refused.empty() ? r.result.failed : r.result.refused;
    if (!why.empty())
      fmt::print("{} {} {}, {} threads, {} entries: {}: {}\n", r.stream, r.with.strategy, r.with.completion,
                 r.with.threads, r.with.entries, r.result.refused.empty() ? "FAILED" : "refused", why);
  }
}

nlohmann::ordered_json to_json(const finished_run& r) {
  const report& s = r.result;
  nlohmann::ordered_json j{{"stream", r.stream},
                           {"strategy", r.with.strategy},
                           {"completion", r.with.completion},
                           {"reclaim", r.with.reclaim},
                           {"wait", r.with.wait},
                           {"device", r.with.device},
                           {"threads", r.with.threads},
                           {"entries", r.with.entries},
                           {"groups", r.with.groups},
                           {"command_ns", r.with.command_ns},
                           {"sync_ns", r.with.sync_ns},
                           {"yield_one_in", r.with.yield_one_in},
                           {"oversubscribed", oversubscribed(r.with)}};
  if (!s.refused.empty()) {
    j["refused"] = s.refused;
    return j;
  }
  j["lists"] = s.lists;
  j["commands"] = s.commands;
  j["syncs"] = s.syncs;
  j["prod_writes"] = s.prod_writes;
  j["lists_per_prod_write"] = s.lists_per_prod_write();
  j["cons_reads"] = s.cons_reads;
  j["retries"] = s.retries;
  j["seconds"] = s.seconds;
  j["passed"] = s.failed.empty();
  if (!s.failed.empty()) j["failure"] = s.failed;
  return j;
}

void write_json(const std::string& file, const std::vector<finished_run>& runs) {
  nlohmann::ordered_json all{{"program", "cmdq replay"}, {"version", CMDQ_VERSION}, {"cores", cores()}};
  all["runs"] = nlohmann::ordered_json::array();
  for (const finished_run& r : runs) all["runs"].push_back(to_json(r));
  std::ofstream out(file);
  out << all.dump(2) << '\n';
  if (!out.flush()) throw input_error(fmt::format("--json {}: cannot be written", file));
}

/// A line on the terminal that is overwritten as the runs go on; nothing where standard error is no terminal.
class progress_line {
 public:
  explicit progress_line(std::size_t runs) : runs_(runs), shown_(isatty(STDERR_FILENO) != 0) {}
  ~progress_line() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  progress next(const stream& s, const setup& with) {
    ++at_;
    if (!shown_) return {};
    return [this, &s, &with](std::uint64_t lists) {
      fmt::print(stderr, "\r\033[K[{}/{}] {} {} {} {} threads {} entries: {}/{} lists", at_, runs_, s.name,
                 with.strategy, with.completion, with.threads, with.entries, lists, s.lists.size());
    };
  }

 private:
  std::size_t runs_;
  std::size_t at_ = 0;
  bool shown_;
};

void replay(const replay_options& o) {
  for (const std::uint32_t n : o.entries)
    if (!std::has_single_bit(n)) throw input_error(fmt::format("--entries {}: not a power of two", n));
  std::vector<stream> streams;
  for (const std::string& file : o.files) {
    const stream& s = streams.emplace_back(read_stream(file));
    if (o.common.batch_limit != 0 && o.common.batch_limit < s.longest())
      throw input_error(
          fmt::format("--batch-limit {}: {} holds a list of {} commands", o.common.batch_limit, s.name, s.longest()));
  }
  const std::vector<setup> sweep = combinations(o);
  std::vector<finished_run> runs;
  {
    progress_line line(streams.size() * sweep.size());
    for (const stream& s : streams)
      for (const setup& with : sweep) runs.push_back({s.name, with, run_replay(s, with, line.next(s, with))});
  }
  std::size_t failed = 0;
  std::size_t refused = 0;
  for (const finished_run& r : runs) {
    failed += r.result.failed.empty() ? 0 : 1;
    refused += r.result.refused.empty() ? 0 : 1;
    if (!r.result.refused.empty() && (runs.size() == 1 || !(o.skip_refused && r.result.too_small)))
      throw input_error(r.result.refused);
  }
  print_table(runs);
  print_reasons(runs);
  if (!o.json.empty()) write_json(o.json, runs);
  if (failed != 0) throw check_error(fmt::format("{} of {} runs failed their checks", failed, runs.size()));
  fmt::print("all checks passed: {} runs{}\n", runs.size() - refused,
             refused != 0 ? fmt::format(", {} refused because the ring is too small", refused) : "");
}

constexpr const char* description =
    "Plays recorded command streams through the queue into a modelled SMMUv3 and checks what the device did: every\n"
    "command executed exactly once, lists not interleaved, each thread's order kept, every CMD_SYNC that was waited "
    "for\n"
    "really done. Options that take several values (commas between them) run every combination and print one table.\n"
    "lists/PROD: lists that reach the device per write of CMDQ_PROD, on average.";

}  // namespace

report run_replay(const stream& s, const setup& with, const progress& tell) {
  if (with.strategy == "cmpxchg_loop") return run_cmpxchg_loop(s, with, tell);
  if (with.strategy == "owner_bits") return run_owner_bits(s, with, tell);
  return run_combining(s, with, tell);
}

void add_replay(CLI::App& app) {
  auto o = std::make_shared<replay_options>();
  CLI::App* r = app.add_subcommand("replay", "recorded command streams through the queue into a modelled SMMUv3");
  r->footer(description);
  r->add_option("files", o->files, "streams: CSV with the columns seq,write,slot,opcode,d0,d1,fields")->required();
  const auto several = [r](const char* name, auto& values, const char* help) {
    return r->add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  several("--strategy", o->strategies, "how space is claimed and lists are gathered")
      ->check(CLI::IsMember({"cmpxchg_loop", "owner_bits", "combining"}));
  several("--completion", o->completions, "what a waiter polls: CMDQ_CONS, or the word that an MSI writes")
      ->check(CLI::IsMember({"cons", "msi"}));
  several("--threads", o->threads, "issuers at once")->check(CLI::Range(1U, max_producers));
  several("--entries", o->entries, "entries of the ring, a power of two")->check(CLI::Range(4U, 1U << max_log2_size));
  const auto one = [r](const char* name, auto& value, const char* help) {
    return r->add_option(name, value, help)->capture_default_str();
  };
  setup& c = o->common;
  one("--groups", c.groups, "combining: issuer i gathers in group i modulo this before the ring")
      ->check(CLI::Range(1U, max_groups));
  one("--device", c.device, "the device consumes inside the PROD write, or on a thread of its own")
      ->check(CLI::IsMember({"inline", "thread"}));
  one("--wait", c.wait, "what a waiting thread does")->check(CLI::IsMember({"spin", "spin_then_yield", "park"}));
  one("--reclaim", c.reclaim, "how software CONS is moved; sync_locked: the published lock")
      ->check(CLI::IsMember({"counted", "sync_locked"}));
  r->add_option("--batch-limit", c.batch_limit, "most commands in a list; default: the longest list of the stream")
      ->check(CLI::Range(1U, max_batch));
  one("--command-ns", c.command_ns, "time of the device per command, in ns");
  one("--sync-ns", c.sync_ns, "time of the device per CMD_SYNC, in ns");
  one("--deadline-ms", c.deadline_ms, "time budget of one call, in ms")->check(CLI::Range(1U, 3'600'000U));
  one("--yield-one-in", c.yield_one_in, "threads give the processor away at one in so many entry writes; 0: never");
  r->add_option("--json", o->json, "write the results to this file as well");
  r->add_flag("--skip-refused", o->skip_refused, "in a table, a ring that is too small is a row and not an error");
  r->callback([o] { replay(*o); });
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// `cmdq replay`: recorded command streams through the queue into the modelled device, for every combination of options.
#include <cmdq/queue/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands.hpp"
#include "errors.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
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

double per_write(std::uint64_t lists, std::uint64_t prod_writes) {
  return prod_writes == 0 ? 0 : static_cast<double>(lists) / static_cast<double>(prod_writes);
}

std::string verdict(const setup& with, const report& r) {
  if (!r.refused.empty()) return "refused: " + r.refused;
  if (!r.failed.empty()) return "FAILED: " + r.failed;
  return oversubscribed(with) ? "passed, oversubscribed" : "passed";
}

/// As in simulate, reproduce and bench: a plain name is what the library's default makes of the strategy.
std::string form_name(const setup& with) { return with.strategy + (with.reclaim == "sync_locked" ? "/published" : ""); }

nlohmann::ordered_json to_json(const std::string& stream, const setup& with, const report& s) {
  nlohmann::ordered_json j{{"stream", stream},
                           {"strategy", form_name(with)},
                           {"completion", with.completion},
                           {"reclaim", with.reclaim},
                           {"wait", with.wait},
                           {"device", with.device},
                           {"threads", with.threads},
                           {"entries", with.entries},
                           {"groups", with.groups},
                           {"command_ns", with.command_ns},
                           {"sync_ns", with.sync_ns},
                           {"yield_one_in", with.yield_one_in},
                           {"oversubscribed", oversubscribed(with)}};
  if (!s.refused.empty()) {
    j["refused"] = s.refused;
    return j;
  }
  j["lists"] = s.lists;
  j["commands"] = s.commands;
  j["syncs"] = s.syncs;
  j["prod_writes"] = s.prod_writes;
  j["lists_per_prod_write"] = per_write(s.lists, s.prod_writes);
  j["cons_reads"] = s.cons_reads;
  j["retries"] = s.retries;
  j["seconds"] = s.seconds;
  j["passed"] = s.failed.empty();
  if (!s.failed.empty()) j["failure"] = s.failed;
  return j;
}

/// The table on standard output and the same in JSON, row by row as they come.
class table {
 public:
  table(const replay_options& o, const std::vector<stream>& streams) : out_(o.json) {
    for (const stream& s : streams) wide_ = std::max(wide_, s.name.size());
    out_.add([&](auto& j) {
      j["program"] = "cmdq replay";
      j["cores"] = cores();
      j["recorded"] = nlohmann::ordered_json::array();
      j["runs"] = nlohmann::ordered_json::array();
    });
    out_.say(
        fmt::format("{:<{}}  {:<22} {:<4} {:>7} {:>7} {:>7} {:>8} {:>7} {:>11} {:>10} {:>10} {:>8} {:>9}  checks\n",
                    "stream", wide_, "strategy", "sync", "threads", "entries", "lists", "commands", "syncs",
                    "PROD writes", "lists/PROD", "CONS reads", "retries", "time"));
  }

  /// What the driver that was recorded did with the same lists.
  void recorded(const stream& s) {
    out_.say(fmt::format("{:<{}}  {:<22} {:<4} {:>7} {:>7} {:>7} {:>8} {:>7} {:>11} {:>10.2f} {:>10} {:>8} {:>9}  {}\n",
                         s.name, wide_, "recorded", "-", "-", "-", s.lists.size(), s.commands.size(), s.recorded.syncs,
                         s.recorded.prod_writes, per_write(s.lists.size(), s.recorded.prod_writes), "-", "-", "-",
                         "of the real driver"));
    out_.add([&](auto& j) {
      j["recorded"].push_back({{"stream", s.name},
                               {"lists", s.lists.size()},
                               {"commands", s.commands.size()},
                               {"syncs", s.recorded.syncs},
                               {"prod_writes", s.recorded.prod_writes},
                               {"lists_per_prod_write", per_write(s.lists.size(), s.recorded.prod_writes)}});
    });
  }

  void row(const stream& s, const setup& with, const report& r) {
    std::string text = fmt::format("{:<{}}  {:<22} {:<4} {:>7} {:>7} ", s.name, wide_, form_name(with), with.completion,
                                   with.threads, with.entries);
    if (r.refused.empty())
      text += fmt::format("{:>7} {:>8} {:>7} {:>11} {:>10.2f} {:>10} {:>8} {:>6.1f} ms", r.lists, r.commands, r.syncs,
                          r.prod_writes, per_write(r.lists, r.prod_writes), r.cons_reads, r.retries, r.seconds * 1e3);
    else
      text += fmt::format("{:>7} {:>8} {:>7} {:>11} {:>10} {:>10} {:>8} {:>9}", "-", "-", "-", "-", "-", "-", "-", "-");
    out_.add([&](auto& j) { j["runs"].push_back(to_json(s.name, with, r)); });  // first: what is seen is kept
    out_.say(fmt::format("{}  {}\n", text, verdict(with, r)));
    ++runs_;
    failed_ += r.failed.empty() ? 0 : 1;
    refused_ += r.refused.empty() ? 0 : 1;
    too_small_ += r.too_small ? 1 : 0;
  }

  /// Sums up. Throws when a check failed, or when not all that was asked for could be run.
  void end(bool skip_refused) {
    if (failed_ == 0 && refused_ < runs_)
      out_.say(fmt::format("all checks passed: {} runs{}\n", runs_ - refused_,
                           refused_ != 0 ? fmt::format(", {} refused (their rows say why)", refused_) : ""));
    out_.finish();
    if (failed_ != 0) throw check_error(fmt::format("{} of {} runs failed their checks", failed_, runs_));
    if (refused_ > (skip_refused && refused_ < runs_ ? too_small_ : 0))
      throw input_error(fmt::format("{} of {} runs were refused; the reasons are in their rows", refused_, runs_));
  }

 private:
  results out_;
  std::size_t wide_ = 6;
  std::size_t runs_ = 0, failed_ = 0, refused_ = 0, too_small_ = 0;
};

std::vector<stream> read_all(const replay_options& o) {
  std::vector<stream> streams;
  for (const std::string& file : o.files) {
    const stream& s = streams.emplace_back(read_stream(file));
    if (o.common.batch_limit != 0 && o.common.batch_limit < s.longest())
      throw input_error(
          fmt::format("--batch-limit {}: {} holds a list of {} commands", o.common.batch_limit, s.name, s.longest()));
  }
  return streams;
}

void replay(const replay_options& o) {
  for (const std::uint32_t n : o.entries)
    if (!std::has_single_bit(n)) throw input_error(fmt::format("--entries {}: not a power of two", n));
  const std::vector<stream> streams = read_all(o);
  const std::vector<setup> sweep = combinations(o);
  table rows(o, streams);
  {
    progress line(streams.size() * sweep.size());
    for (const stream& s : streams) {
      rows.recorded(s);
      for (const setup& with : sweep) {
        line.step(fmt::format("{} {} {} {} threads {} entries", s.name, with.strategy, with.completion, with.threads,
                              with.entries));
        const telling tell = [&](std::uint64_t lists) { line.part(lists, s.lists.size()); };
        rows.row(s, with, run_replay(s, with, line.shown() ? tell : telling{}));
      }
    }
  }
  rows.end(o.skip_refused);
}

constexpr const char* description =
    "Plays recorded command streams through the queue into a modelled SMMUv3 and checks what the device did: every\n"
    "command executed exactly once, lists not interleaved, each thread's order kept, every CMD_SYNC that was waited "
    "for\n"
    "really done. Options that take several values (commas between them) run every combination and print one table,\n"
    "each row when it is done; `recorded` is what the driver did that the stream was taken from. lists/PROD: lists\n"
    "that reach the device per write of CMDQ_PROD, on average. A combination that is refused is a row that says why;\n"
    "the exit code is then 2.";

}  // namespace

void add_replay(arguments& program) {
  auto o = std::make_shared<replay_options>();
  setup& c = o->common;
  arguments r = program.add("replay", "recorded command streams through the queue into a modelled SMMUv3");
  r.explain(description);
  r.texts("files", o->files,
          "streams: CSV with the columns seq,write,slot,opcode,d0,d1,fields, also as .gz; -: standard input", true);
  r.choices("--strategy", o->strategies, strategy_names(), "how space is claimed and lists are gathered");
  r.choices("--completion", o->completions, {"cons", "msi"}, "what a waiter polls: CMDQ_CONS, or the word of an MSI");
  r.numbers("--threads", o->threads, 1, max_producers, "issuers at once");
  r.numbers("--entries", o->entries, 4, 1U << max_log2_size, "entries of the ring, a power of two");
  r.number("--groups", c.groups, 1, max_groups, "combining: issuer i gathers in group i modulo this before the ring");
  r.choice("--device", c.device, {"inline", "thread"},
           "the device consumes inside the PROD write, or on a thread of its own");
  r.choice("--wait", c.wait, {"spin", "spin_then_yield", "park"}, "what a waiting thread does");
  r.choice("--reclaim", c.reclaim, {"counted", "sync_locked"},
           "how software CONS is moved; sync_locked: the published lock");
  r.number("--batch-limit", c.batch_limit, 0, max_batch, "most commands in a list; 0: the longest list of the stream");
  r.number("--command-ns", c.command_ns, 0, most_step_ns, "time of the device per command, in ns");
  r.number("--sync-ns", c.sync_ns, 0, most_step_ns, "time of the device per CMD_SYNC, in ns");
  r.number("--deadline-ms", c.deadline_ms, 1, 3'600'000, "time budget of one call, in ms");
  r.number("--yield-one-in", c.yield_one_in, 0, 1U << 31,
           "threads give the processor away at one in so many entry writes; 0: never");
  r.flag("--skip-refused", o->skip_refused, "a ring that is too small is no error");
  r.json(o->json);
  r.runs([o] { replay(*o); });
}

}  // namespace cmdq::cli

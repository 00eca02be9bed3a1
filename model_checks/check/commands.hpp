// SPDX-License-Identifier: BSL-1.0
// The subcommands of cmdq-check. Each returns the program's exit status: 0 as expected, 1 not as expected.
#pragma once

#include "../support/engine.hpp"
#include "../support/orders.hpp"
#include "process_pool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cmdq::checks {

struct run_options {
  std::string pattern;
  std::optional<schedule> how;
  std::optional<std::uint64_t> iterations;
  std::optional<unsigned> bound;
  unsigned seed = 0;
  unsigned shard = 1;
  unsigned shards = 1;
  std::string json;
  std::string record;  ///< write the counts of the searches here
  pool_options pool;
};

struct exhaust_options {
  std::string pattern;
  bool deep = false;  ///< also what takes minutes to hours
  bool list = false;  ///< say what there is
  double cut = 0;     ///< seconds after which a search is cut; 0: never
  std::string json;
  std::string record;  ///< write the counts of complete searches here
  pool_options pool;
};

struct exhaust_child_options {
  std::string scenario;
  bool sound = false;            ///< without what is broken in a wrong variant
  std::uint64_t executions = 0;  ///< stop after so many
  double cut = 0;
};

struct table_options {
  std::string json;
  std::string markdown;  ///< orderings only
  std::string record;    ///< orderings: write the scenarios that reject here
  std::string user;      ///< orderings: part of the names of those who use a row
  bool known = false;    ///< orderings: only where a scenario is known that rejects the mutant
  bool search = false;   ///< orderings: look for a scenario where none is known
  bool doubt = false;    ///< ... and where it is explained why there is none
  std::string pattern;
  pool_options pool;
};

struct single_options {
  std::string scenario;
  request how;
  std::optional<mutant> weaken;
};

int list_scenarios();
int run_correct(const run_options& options);
int run_orderings(const table_options& options);
int run_wrong(const table_options& options);
int merge_runs(const std::vector<std::string>& files, const std::string& json);
int replay(const single_options& options);
int run_child(const single_options& options);
int exhaust(const exhaust_options& options);
int exhaust_child(const exhaust_child_options& options);

/// Arguments for `cmdq-check child` that explore this.
std::vector<std::string> child_arguments(const facts& about, const request& how, const std::optional<mutant>& weaken);
/// How a scenario is explored when nobody says otherwise.
request default_request(const facts& about);
/// The command that shows the failing execution again.
std::string replay_command(const facts& about, const request& how, const std::optional<mutant>& weaken,
                           const answer& failed);
/// Writes to `path` ("-": standard output).
void write_file(const std::string& path, const std::string& text);

}  // namespace cmdq::checks

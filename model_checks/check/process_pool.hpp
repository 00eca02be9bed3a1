// SPDX-License-Identifier: BSL-1.0
// Runs this program again, once for each exploration: the engines keep global state, so one process explores one thing.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cmdq::checks {

struct job {
  std::size_t id = 0;             ///< the caller's own number
  std::vector<std::string> args;  ///< of the subcommand
  double weight = 1;              ///< share of the work, for the estimate
  std::string command = "child";  ///< the subcommand that explores
};

/// What a child printed; {"result": "crashed" or "ran too long", "detail": ...} when it printed nothing.
using answer = nlohmann::ordered_json;

struct pool_options {
  unsigned jobs = 2;
  unsigned timeout_s = 7200;
  bool progress = true;
};

/// Runs all jobs. `done` says what a job printed and returns one more job to run instead, if any. Progress with an
/// estimate of the time left goes to stderr.
void run_jobs(std::vector<job> jobs, const pool_options& options,
              const std::function<std::optional<job>(const job&, const answer&)>& done);

}  // namespace cmdq::checks

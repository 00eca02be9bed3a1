// SPDX-License-Identifier: BSL-1.0
// The shipped queue configurations, by name. One table in strategies.cpp: whatever runs "every strategy" goes through
// it.
#pragma once

#include <string>
#include <vector>

#include "contention.hpp"

namespace cmdq::manycore {

/// What a row is there for.
enum class role {
  published,  ///< as published: with the sync lock. What others are held against.
  own,        ///< this library's own strategies, in the form a user gets
  variant,    ///< a published claim with the library's default reclaim: what a user gets under that policy's name
};

struct strategy {
  std::string name;
  role kind;
};

/// Names for --strategy. A policy's plain name is what the library's default configuration makes of it (lock-free
/// reclaim); "/published" behind it is the published form (reclaim::sync_locked).
const std::vector<strategy>& strategies();
/// All of them, as --strategy takes them.
std::vector<std::string> strategy_names();
/// Only those of one role, in the table's order.
std::vector<std::string> strategies(role kind);
/// The published ones, then the library's own: what reports compare.
std::vector<std::string> compared_strategies();
/// Names for --completion: msi, cons.
std::vector<std::string> completions();

/// Throws std::invalid_argument, naming those that there are.
[[noreturn]] void throw_unknown_strategy(const std::string& name);

/// Throws std::invalid_argument for a name that is not there, naming those that are.
contention_result run_contention(const std::string& strategy, const std::string& completion, const topology& shape,
                                 const contention_options& o);

}  // namespace cmdq::manycore

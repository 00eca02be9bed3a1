// SPDX-License-Identifier: BSL-1.0
// The shipped queue configurations, by name.
#pragma once

#include <string>
#include <vector>

#include "contention.hpp"

namespace cmdq::manycore {

/// Names for --strategy. cmpxchg_loop and owner_bits are as published, with the sync lock; "_counted" has the lock-free
/// software CONS in its place.
std::vector<std::string> strategies();
/// Names for --completion: msi, cons.
std::vector<std::string> completions();

/// Throws std::invalid_argument for a name that is not there, naming those that are.
contention_result run_contention(const std::string& strategy, const std::string& completion, const topology& shape,
                                 const contention_options& o);

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
// Where and from what the figures come: goes into every result file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Name and value: machine, cores, kernel, compiler, flags, commit, load (average of the last minute), date.
std::vector<std::pair<std::string, std::string>> machine();

/// Threads that wanted to run in the last minute, on average.
std::string load();

/// Processors this program may run on.
unsigned cores();

}  // namespace bench

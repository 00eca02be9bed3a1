// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

namespace cmdq::checks {

/// Relacy's history as a table: step, thread, operation, site, what it saw and did. Words of memory are numbered in
/// order of appearance; the construction of the scenario and the per-thread repetition are left out.
std::string readable_history(const std::string& relacy_text);

}  // namespace cmdq::checks

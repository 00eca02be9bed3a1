// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "topology.hpp"

namespace cmdq::cli {

/// A shipped machine by name, or one from a JSON file ("-": standard input, also compressed). Throws input_error, with
/// file, line and column where the text is no JSON, nested too deep or holds a number that is none.
manycore::topology read_topology(const std::string& name_or_file);

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// An earlier result that a section must come to again.
#pragma once

#include <string>

#include "reproduce/figure.hpp"

namespace cmdq::cli {

/// Reads the JSON that `reproduce all --json` wrote. Throws input_error.
nlohmann::json read_expected(const std::string& file);

/// Throws check_error naming the first figure that is missing or is off by more than 1 %, and the score when it is
/// another. What was measured may differ.
void check_expected(const reproduction& r, const std::string& section, const nlohmann::json& expected);

}  // namespace cmdq::cli

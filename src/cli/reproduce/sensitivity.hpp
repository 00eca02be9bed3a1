// SPDX-License-Identifier: BSL-1.0
// What a section's figures hang on: each parameter varied over a factor of two, and what moves.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reproduce/reproduce.hpp"

namespace cmdq::cli {

using section_run = std::function<reproduction(const reproduce_input&)>;

/// A number that can be set: one of `parameters`, or one of the machine's that the calibration fits
/// ("machine.hold_ns"). Throws input_error.
void set_parameter(reproduce_input& in, const std::string& assignment);

/// Runs the section with each parameter whose name begins with one of `prefixes` divided and multiplied by the square
/// root of two, as far as its limits allow; what was fitted to published figures is not fitted again. `as_is`: the
/// section as it was run.
void add_sensitivity(reproduction& as_is, const section_run& run, const reproduce_input& in,
                     const std::vector<std::string>& prefixes);

}  // namespace cmdq::cli

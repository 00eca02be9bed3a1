// SPDX-License-Identifier: BSL-1.0
// How a command ends when it cannot do what it was asked for.
#pragma once

#include <stdexcept>

namespace cmdq::cli {

/// Exit codes: 0 done; 1 a check failed; 2 the input, or a part of what was asked for, cannot be used, or an output
/// cannot be written; 128 + n: ended by signal n, 130 for ^C.
enum exit_code : int { done = 0, check_failed = 1, bad_input = 2 };

/// Thrown by a command whose input cannot be used; main prints the text and exits with 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Thrown by a command whose own check failed; main prints the text and exits with 1.
struct check_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace cmdq::cli

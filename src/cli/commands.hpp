// SPDX-License-Identifier: BSL-1.0
// One function per command of the `cmdq` program. Each adds its options to the parent and, as callback, runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace cmdq::cli {

/// Exit codes: 0 done, 1 a check failed, 2 the user's input cannot be used.
enum exit_code : int { done = 0, check_failed = 1, bad_input = 2 };

/// Thrown by a command whose input cannot be used; main prints the text and exits with 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Thrown by a command whose own check failed; main prints the text and exits with 1.
struct check_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void add_encode(CLI::App& app);
void add_decode(CLI::App& app);
void add_replay(CLI::App& app);

/// Adds `simulate` and its commands.
void add_simulate(CLI::App& app);
void add_simulate_safe(CLI::App& simulate);
void add_simulate_contention(CLI::App& simulate);
void add_simulate_dma(CLI::App& simulate);
void add_simulate_calibrate(CLI::App& simulate);
void add_simulate_machines(CLI::App& simulate);
void add_simulate_queues(CLI::App& simulate);

/// Adds `reproduce` and its figures.
void add_reproduce(CLI::App& app);

}  // namespace cmdq::cli

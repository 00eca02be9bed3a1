// SPDX-License-Identifier: BSL-1.0
// One function per command of the `cmdq` program. Each adds its options to the parent and says what runs it.
#pragma once

#include "arguments.hpp"

namespace cmdq::cli {

void add_encode(arguments& program);
void add_decode(arguments& program);
void add_replay(arguments& program);

/// Adds `simulate` and its commands.
void add_simulate(arguments& program);
void add_simulate_safe(arguments& simulate);
void add_simulate_contention(arguments& simulate);
void add_simulate_dma(arguments& simulate);
void add_simulate_calibrate(arguments& simulate);
void add_simulate_machines(arguments& simulate);
void add_simulate_queues(arguments& simulate);

/// Adds `reproduce` and its figures.
void add_reproduce(arguments& program);

}  // namespace cmdq::cli

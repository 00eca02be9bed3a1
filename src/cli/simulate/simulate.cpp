// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate`: the parent of the commands that run the library in simulated time.
#include "commands.hpp"

namespace cmdq::cli {

void add_simulate(arguments& program) {
  arguments simulate = program.add("simulate", "Run the library in simulated time");
  add_simulate_safe(simulate);
  add_simulate_contention(simulate);
  add_simulate_dma(simulate);
  add_simulate_calibrate(simulate);
  add_simulate_machines(simulate);
  add_simulate_queues(simulate);
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// The strategy on the simulated machine, beside the library's own: what it costs where many CPUs meet.
#include <contention.hpp>
#include <topology.hpp>

#include <fmt/format.h>

#include "ticket_lock.hpp"

namespace {

struct own : cmdq::freestanding_config {
  using platform = cmdq::manycore::platform;
  using allocation = cmdq::allocation::ticket_lock;
};
struct librarys : own {
  using allocation = cmdq::allocation::cmpxchg_loop;
};

}  // namespace

int main() {
  using namespace cmdq::manycore;
  const topology machine = load_topology("arm-server-128");
  bool sound = true;
  fmt::print("CPUs  ticket_lock  cmpxchg_loop   lists per CPU and second, and fairness\n");
  for (const unsigned cpus : {1U, 8U, 32U}) {
    contention_options o;
    o.cpus = cpus;
    o.think = machine.think;
    const auto mine = run_contention<own>(machine, o);
    const auto theirs = run_contention<librarys>(machine, o);
    fmt::print("{:4} {:8.0f} {:.2f} {:8.0f} {:.2f}\n", cpus, mine.per_cpu_per_second, mine.fairness,
               theirs.per_cpu_per_second, theirs.fairness);
    sound = sound && mine.lists > 100 && mine.fairness > 0.8;  // first come, first served
  }
  return sound ? 0 : 1;
}

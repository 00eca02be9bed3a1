// SPDX-License-Identifier: BSL-1.0
// A concurrent case: programs of several producers and of the device, an interleaving, and what must hold of every run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "worker.hpp"

namespace cmdq::test {

struct op {
  enum class what : std::uint8_t { issue, insert, fill, fill_and_leave, submit_and_wait, submit_and_forget };
  what call = what::issue;
  std::vector<kind> kinds;
  static constexpr std::uint32_t stays = ~0U;
  std::uint32_t cpu = stays;  ///< the thread moves there first
};
using program = std::vector<op>;

/// The device stands still for a while, again and again.
struct pause_of_device {
  std::uint32_t after_steps = 0;
  std::uint64_t ns = 0;
};

struct crew_case {
  setup what;
  std::vector<program> programs;
  std::vector<pause_of_device> pauses;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> aborts;  ///< offset from the first position, times
  std::uint32_t dead_reports = 1;                               ///< CERROR_ATC_INV per ATC_INV to the dead stream
  bool service_failure = false;                                 ///< GERROR.SFM at some time
  bool msi_failures = false;
  harm expected = harm::none;
  model::lie lie = model::lie::none;  ///< by_user: CONS anywhere within two laps, every other read
  std::uint32_t seed = 1;
  std::uint32_t idle_groups = 0;  ///< entries that went by since the groups' CPUs last waited for a list
  choices interleaving;
};

/// The calling thread does nothing for so long, whatever others store.
void stand_still(std::uint64_t ns);

/// Runs a case and throws where something does not hold. Ends within a fixed number of steps.
void run_crew(const crew_case& c);

std::string shown(const crew_case& c);

}  // namespace cmdq::test

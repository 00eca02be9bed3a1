// SPDX-License-Identifier: BSL-1.0
// Who looks at the device's registers is one CPU, not everybody.
#include "../strategies.hpp"
#include "bars.hpp"
#include "check.hpp"

namespace cmdq::manycore {

CHECKED_TEST(uncached_reads_per_list_are_bounded_at_128_cpus) {
  topology t = load_topology("arm-server-128");
  std::string above;
  for (const auto& s : strategy_names())
    for (const auto& c : completions())
      for (const picoseconds poll : {5'000U, 10'000U, 40'000U}) {
        t.poll = poll;
        contention_options o;
        o.cpus = 128;
        o.think = t.think;
        o.time = 2'000'000'000;
        const double reads = run_contention(s, c, t, o).uncached_reads_per_list;
        const double most = c == "msi" ? test::most_reads_by_msi : test::most_reads_by_cons;
        if (reads > most) above += fmt::format(" {} {} polls of {} ns: {:.3f};", s, c, poll / 1000, reads);
      }
  test::holds(above.empty(), above);
}

}  // namespace cmdq::manycore

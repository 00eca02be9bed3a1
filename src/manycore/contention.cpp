// SPDX-License-Identifier: BSL-1.0
#include "contention.hpp"

#include <algorithm>

namespace cmdq::manycore::detail {

contention_result summarise(const machine& m, const device& d, const contention_options& o,
                            const std::vector<cpu_tally>& tallies) {
  contention_result r;
  r.cpus = o.cpus;
  picoseconds latency = 0;
  picoseconds longest = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& t : tallies) {
    r.lists += t.lists;
    latency += t.latency;
    longest = std::max(longest, t.longest);
    least = std::min(least, t.lists);
  }
  const auto lists = static_cast<double>(std::max<std::uint64_t>(r.lists, 1));
  const double seconds = static_cast<double>(o.time) * 1e-12;
  r.per_cpu_per_second = static_cast<double>(r.lists) / seconds / o.cpus;
  r.fairness = static_cast<double>(least) * o.cpus / lists;
  r.latency_ns = static_cast<double>(latency) / lists / 1000;
  r.longest_ns = static_cast<double>(longest) / 1000;
  const auto& measured = m.sites();
  r.sites = measured;
  r.phase_time = by_phase(measured);
  r.switches = m.switches();
  r.lines = m.lines();
  r.actors = m.actor_names();
  // The device's counters run on to the end of the last list: its share of syncs is taken per command, not per list.
  const auto commands = static_cast<double>(std::max<std::uint64_t>(d.commands() - d.syncs(), 1));
  r.syncs_per_list = static_cast<double>(d.syncs()) * o.list_length / commands;
  r.cons_reads_per_list = static_cast<double>(measured[cons_read].accesses) * o.list_length / commands;
  r.uncached_reads_per_list =
      r.cons_reads_per_list + static_cast<double>(measured[other_register].accesses) * o.list_length / commands;
  r.entries_per_prod_write =
      static_cast<double>(d.commands()) / static_cast<double>(std::max<std::uint64_t>(d.prod_writes(), 1));
  r.device_busy = std::min(1.0, static_cast<double>(d.busy()) * 1e-12 / seconds);
  const auto& claim = measured[static_cast<unsigned>(site::claim_packed)];
  if (claim.accesses != 0)
    r.claims_that_succeed = static_cast<double>(claim.accesses - claim.failed) / static_cast<double>(claim.accesses);
  return r;
}

}  // namespace cmdq::manycore::detail

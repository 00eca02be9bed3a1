// SPDX-License-Identifier: BSL-1.0
#include "experiments.hpp"

#include <algorithm>

namespace cmdq::manycore {

contention_result average_over_seeds(const std::string& strategy, const std::string& completion, const topology& t,
                                     contention_options o, unsigned seeds) {
  contention_result mean;
  mean.cpus = o.cpus;
  mean.fairness = 1;
  double attempts = 0;
  const double share = 1.0 / seeds;
  for (unsigned s = 0; s < seeds; ++s) {
    const auto r = run_contention(strategy, completion, t, o);
    ++o.seed;
    mean.per_cpu_per_second += r.per_cpu_per_second * share;
    mean.fairness = std::min(mean.fairness, r.fairness);
    mean.syncs_per_list += r.syncs_per_list * share;
    mean.entries_per_prod_write += r.entries_per_prod_write * share;
    mean.device_busy += r.device_busy * share;
    mean.cons_reads_per_list += r.cons_reads_per_list * share;
    mean.uncached_reads_per_list += r.uncached_reads_per_list * share;
    mean.latency_ns += r.latency_ns * share;
    mean.longest_ns = std::max(mean.longest_ns, r.longest_ns);
    mean.lists += r.lists;
    attempts += share / r.claims_that_succeed;
    for (unsigned p = 0; p < phases; ++p) mean.phase_time[p] += r.phase_time[p];
  }
  mean.claims_that_succeed = 1 / attempts;
  return mean;
}

topology grown(const topology& t, unsigned cpus) {
  topology g = t;
  g.sockets = std::max(t.sockets, (cpus + t.cpus_per_socket() - 1) / t.cpus_per_socket());
  return g;
}

topology with_sync(const topology& t, picoseconds sync) {
  topology g = t;
  g.device.sync = sync;
  return g;
}

picoseconds mean_transfer(const topology& t, unsigned cpus) {
  if (cpus < 2) return t.distance.l1;
  picoseconds sum = 0;
  const auto same = [](unsigned a, unsigned b, unsigned per) { return a / per == b / per; };
  for (unsigned a = 0; a < cpus; ++a)
    for (unsigned b = 0; b < cpus; ++b) {
      if (a == b) continue;
      if (same(a, b, t.cpus_per_cluster))
        sum += t.distance.cluster;
      else if (same(a, b, t.cpus_per_die()))
        sum += t.distance.die;
      else
        sum += same(a, b, t.cpus_per_socket()) ? t.distance.socket : t.distance.remote;
    }
  return sum / (static_cast<picoseconds>(cpus) * (cpus - 1));
}

double device_ceiling(const topology& t, unsigned list_length, bool own_sync) {
  const auto entries = static_cast<double>(list_length + (own_sync ? 1 : 0));
  const auto fetch = static_cast<double>(t.distance.socket + t.device.fetch) * entries / 4;
  const auto execute = static_cast<double>(t.device.command) * list_length;
  const auto sync = own_sync ? static_cast<double>(t.device.sync + t.distance.socket) : 0.0;
  const double commands = t.device.fetch_ahead == 0 ? fetch + execute : std::max(fetch, execute);
  return 1e12 / (commands + sync);
}

}  // namespace cmdq::manycore

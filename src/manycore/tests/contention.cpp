// SPDX-License-Identifier: BSL-1.0
// The contention scenario with the shipped strategies: repeatable, complete, fast enough.
#include "../contention.hpp"

#include <ctime>

#include "../strategies.hpp"
#include "check.hpp"

namespace cmdq::manycore {
namespace {

contention_options of(const topology& t, unsigned cpus) {
  contention_options o;
  o.cpus = cpus;
  o.think = t.think;
  return o;
}

}  // namespace

CHECKED_TEST(every_strategy_runs_with_every_completion) {
  const topology t = load_topology("soc-8");
  for (const auto& [s, kind] : strategies())
    for (const auto& c : completions()) {
      auto o = of(t, 8);
      o.list_length = 3;
      const auto r = run_contention(s, c, t, o);
      CHECK(r.lists > 500);
      CHECK(r.fairness > 0.5);
      CHECK(r.syncs_per_list > 0.1 && r.syncs_per_list < 1.05);
    }
}

CHECKED_TEST(a_contention_run_repeats_to_the_bit) {
  const topology t = load_topology("arm-server-128");
  for (const auto& [s, kind] : strategies()) {
    auto o = of(t, 64);
    const auto a = run_contention(s, "msi", t, o);
    const auto b = run_contention(s, "msi", t, o);
    CHECK_EQUAL(a.lists, b.lists);
    for (unsigned i = 0; i < all_sites; ++i) {
      CHECK_EQUAL(a.sites[i].accesses, b.sites[i].accesses);
      CHECK_EQUAL(a.sites[i].queued, b.sites[i].queued);
    }
    o.seed = 2;
    const auto other = run_contention(s, "msi", t, o);
    CHECK(other.phase_time != a.phase_time);
  }
}

CHECKED_TEST(time_adds_up) {
  const topology t = load_topology("arm-server-128");
  const auto o = of(t, 32);
  const auto r = run_contention("combining", "msi", t, o);
  picoseconds sum = 0;
  for (const auto p : r.phase_time) sum += p;
  const double share = static_cast<double>(sum) / static_cast<double>(o.time * o.cpus);
  CHECK(share > 0.98 && share < 1.05);  // the last lists run past the end, and the first began before the start
}

CHECKED_TEST(a_trace_has_the_lists_in_it) {
  const topology t = load_topology("soc-8");
  auto o = of(t, 4);
  std::vector<span> spans;
  o.spans = &spans;
  const auto r = run_contention("combining", "msi", t, o);
  std::uint64_t lists = 0;
  for (const auto& s : spans) {
    CHECK(s.begin <= s.end);
    lists += std::string(s.name) == "list" ? 1 : 0;
  }
  CHECK(lists >= r.lists);
}

CHECKED_TEST(names_that_are_not_there_are_refused) {
  const topology t = load_topology("soc-8");
  std::string text;
  try {
    static_cast<void>(run_contention("magic", "msi", t, of(t, 1)));
  } catch (const std::invalid_argument& e) {
    text = e.what();
  }
  CHECK_EQUAL(text.substr(0, 56), "strategy \"magic\" is not one of: cmpxchg_loop/published, ");
}

/// What README.md claims of combining. At 128 CPUs the device itself is the limit: see there.
CHECKED_TEST(combining_scales) {
  const topology t = load_topology("arm-server-128");
  struct bar {
    unsigned cpus;
    double over_loop, over_owner_bits;
  };
  for (const bar b : {bar{32, 4, 2.5}, bar{64, 8, 3.5}, bar{128, 6.5, 4}}) {
    auto o = of(t, b.cpus);
    o.time = 3'000'000'000;
    const auto x = run_contention("combining", "msi", t, o);
    CHECK(x.per_cpu_per_second >=
          b.over_loop * run_contention("cmpxchg_loop/published", "msi", t, o).per_cpu_per_second);
    CHECK(x.per_cpu_per_second >=
          b.over_owner_bits * run_contention("owner_bits/published", "msi", t, o).per_cpu_per_second);
    CHECK(x.fairness >= 0.8);
    if (b.cpus == 128) CHECK(x.device_busy > 0.95);
  }
}

CHECKED_TEST(combining_loses_nothing_at_few_cpus) {
  const topology t = load_topology("arm-server-128");
  for (const unsigned cpus : {1U, 2U, 4U, 8U}) {
    auto o = of(t, cpus);
    o.warm_up = 12'000'000'000;  // a lap of the ring
    o.time = 20'000'000'000;
    const double mine = run_contention("combining", "msi", t, o).per_cpu_per_second;
    for (const char* s : {"cmpxchg_loop/published", "owner_bits/published"})
      CHECK(mine >= 0.97 * run_contention(s, "msi", t, o).per_cpu_per_second);
  }
}

/// Looks at the device are counted: a list that is waited for by CONS has at least one, by MSI in a short run none.
CHECKED_TEST(uncached_reads_are_counted) {
  const topology t = load_topology("arm-server-128");
  for (const auto& [s, kind] : strategies()) {
    const auto by_cons = run_contention(s, "cons", t, of(t, 1));
    CHECK(by_cons.cons_reads_per_list >= 1);
    CHECK(by_cons.uncached_reads_per_list >= by_cons.cons_reads_per_list);
    CHECK_EQUAL(run_contention(s, "msi", t, of(t, 1)).uncached_reads_per_list, 0.0);
  }
}

/// 128 CPUs for 1 ms take at most 5 s of one core; processor time, so that a busy host does not fail it.
CHECKED_TEST(a_millisecond_of_128_cpus_takes_less_than_5_s) {
  const topology t = load_topology("arm-server-128");
  for (const auto& [s, kind] : strategies()) {
    const std::clock_t begin = std::clock();
    static_cast<void>(run_contention(s, "msi", t, of(t, 128)));
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    CHECK(seconds < 5);
  }
}

}  // namespace cmdq::manycore

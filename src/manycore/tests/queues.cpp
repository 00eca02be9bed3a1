// SPDX-License-Identifier: BSL-1.0
// Several queues that share an engine: nothing is lost, and what they give depends on where a CMD_SYNC's time goes.
#include "../queues.hpp"

#include "../comparison_set.hpp"
#include "../strategies.hpp"
#include "../uncertainty.hpp"
#include "check.hpp"

namespace cmdq::manycore {
namespace {

queues_result with(unsigned queues, bool occupies, const char* strategy) {
  topology t = load_topology("server-64");
  t.device.sync = 2'000'000;
  queues_options o;
  o.queues = queues;
  o.syncs_occupy_engine = occupies;
  o.load.cpus = 64;
  o.load.think = t.think;
  o.load.time = 2'000'000'000;
  return run_queues(strategy, t, o);
}

}  // namespace

CHECKED_TEST(queues_help_where_a_sync_keeps_only_its_own_queue_waiting) {
  const double one = with(1, false, "cmpxchg_loop").per_cpu_per_second;
  CHECK(with(16, false, "cmpxchg_loop").per_cpu_per_second > 8 * one);
  CHECK(with(16, true, "cmpxchg_loop").per_cpu_per_second < 2 * one);
}

CHECKED_TEST(one_combined_queue_merges_syncs_that_queues_apart_cannot) {
  const auto one = with(1, true, "combining");
  const auto many = with(64, true, "combining");
  CHECK(one.syncs_per_list < 0.1 && many.syncs_per_list > 0.9);
  CHECK(one.per_cpu_per_second > 5 * many.per_cpu_per_second);
  CHECK(many.engine_busy > 0.9);
}

CHECKED_TEST(more_queues_than_cpus_are_refused) {
  std::string text;
  try {
    static_cast<void>(with(65, true, "combining"));
  } catch (const std::invalid_argument& e) {
    text = e.what();
  }
  CHECK_EQUAL(text, "65 queues for 64 CPUs, there may be 1 to 64");
}

CHECKED_TEST(quantiles_are_interpolated) {
  CHECK_EQUAL(quantile({4, 1, 3, 2, 5}, 0.5), 3.0);
  CHECK_EQUAL(quantile({0, 10}, 0.05), 0.5);
  CHECK_EQUAL(quantile({7}, 0.95), 7.0);
}

CHECKED_TEST(every_policy_is_compared_with_its_published_form) {
  unsigned own = 0;
  unsigned variants = 0;
  for (const auto& k : ratio_keys()) {
    own += k.strategy == "combining" ? 1 : 0;
    variants += k.over == k.strategy + "/published" ? 1 : 0;
  }
  CHECK_EQUAL(own, 2 * scenarios().size());
  CHECK_EQUAL(variants, 2 * scenarios().size());
}

CHECKED_TEST(a_machine_that_misses_the_figures_is_not_drawn_around) {
  topology t = load_topology("arm-server-128");
  t.device.sync *= 3;
  std::string text;
  try {
    static_cast<void>(draw_machines(t, {}));
  } catch (const std::invalid_argument& e) {
    text = e.what();
  }
  CHECK_EQUAL(text, "the machine \"two-socket 128-CPU Arm server\" itself is not within 15 % of the published figures");
}

}  // namespace cmdq::manycore

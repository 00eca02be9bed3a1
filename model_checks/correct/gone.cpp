// SPDX-License-Identifier: BSL-1.0
#include "gone_scenario.hpp"

namespace cmdq::checks {
namespace {

// clang-format off
#define CMDQ_GONE_CASES(prefix, more)                                                                                 \
  {                                                                                                                   \
    {{"gone/" prefix, "every call ends after the device has gone",                                                    \
      "2 producers, 3 lists of 1, gone after 3 commands, ring of 4, every start", 3, schedule::random, 3000},         \
     {.lists = 3, more .device = {.gone_after = 3}}},                                                                 \
    {{"gone/" prefix "_search", "every call ends after the device has gone",                                          \
      "2 producers, 2 lists of 1, gone after 3 commands, ring of 4, start at 3", 3, schedule::bounded, 0, 1},         \
     {.first = 3, .lists = 2, more .device = {.gone_after = 3}}},                                                     \
  }
// clang-format on
const queue_case cmpxchg_loop[] = CMDQ_GONE_CASES("cmpxchg_loop", );
const queue_case owner_bits[] = CMDQ_GONE_CASES("owner_bits", );
const queue_case combining[] = CMDQ_GONE_CASES("combining", );
#define CMDQ_GROUPS .groups = 2,
const queue_case grouped[] = CMDQ_GONE_CASES("combining_grouped", CMDQ_GROUPS);
const queue_case grouped_three[] = {
    {{"gone/combining_grouped_2and1", "every call ends after the device has gone",
      "2 producers of one group and 1 of another, 3 lists of 1, gone after 4 commands, ring of 8, every start", 4,
      schedule::random, 3000},
     {.log2 = 3, .producers = 3, .lists = 3, .groups = 2, .device = {.gone_after = 4}}},
};
const queue_family<gone_scenario<checked_config<allocation::cmpxchg_loop>>> r1(cmpxchg_loop);
const queue_family<gone_scenario<checked_config<allocation::owner_bits>>> r2(owner_bits);
const queue_family<gone_scenario<checked_config<allocation::combining>>> r3(combining);
const queue_family<gone_scenario<checked_config<allocation::combining>>> r4(grouped);
const queue_family<gone_scenario<checked_config<allocation::combining>>> r5(grouped_three);

}  // namespace
}  // namespace cmdq::checks

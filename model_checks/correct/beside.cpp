// SPDX-License-Identifier: BSL-1.0
#include "beside_scenario.hpp"

namespace cmdq::checks {
namespace {

// clang-format off
#define CMDQ_HURRIED_CASES(prefix, more)                                                                              \
  {                                                                                                                   \
    {{"hurried/" prefix, "calls that end by their deadline harm nobody else's; all is done once",                     \
      "2 producers, 3 calls each, one gives up at its first fruitless poll, ring of 4, every start", 3,               \
      schedule::random, 5000},                                                                                        \
     {.lists = 3, more}},                                                                                             \
    {{"hurried/" prefix "_search", "calls that end by their deadline harm nobody else's; all is done once",           \
      "2 producers, 1 call each, one gives up at its first fruitless poll, ring of 4, start at 3", 3,                 \
      schedule::bounded, 0, 1},                                                                                       \
     {.first = 3, more}},                                                                                             \
  }
#define CMDQ_STOPPED_CASES(prefix, more)                                                                              \
  {                                                                                                                   \
    {{"stopped/" prefix, "calls end by their deadline although another producer has stopped anywhere",                \
      "2 producers, 2 calls each, one stops before any of its first 80 accesses, ring of 4, every start", 3,          \
      schedule::random, 5000},                                                                                        \
     {.lists = 2, more}},                                                                                             \
  }
#define CMDQ_GROUPS .groups = 2
// clang-format on
const queue_case h1[] = CMDQ_HURRIED_CASES("cmpxchg_loop", );
const queue_case h2[] = CMDQ_HURRIED_CASES("owner_bits", );
const queue_case h3[] = CMDQ_HURRIED_CASES("combining", );
const queue_case h4[] = CMDQ_HURRIED_CASES("combining_grouped", CMDQ_GROUPS);
const queue_case h5[] = CMDQ_HURRIED_CASES("cmpxchg_loop_msi", );
const queue_case h6[] = CMDQ_HURRIED_CASES("owner_bits_msi", );
const queue_case h7[] = CMDQ_HURRIED_CASES("combining_msi", );
const queue_case h8[] = CMDQ_HURRIED_CASES("combining_grouped_msi", CMDQ_GROUPS);
const queue_case h9[] = CMDQ_HURRIED_CASES("cmpxchg_loop_locked", );
const queue_case h10[] = CMDQ_HURRIED_CASES("owner_bits_locked", );
const queue_case s1[] = CMDQ_STOPPED_CASES("cmpxchg_loop", );
const queue_case s2[] = CMDQ_STOPPED_CASES("owner_bits", );
const queue_case s3[] = CMDQ_STOPPED_CASES("combining", );
const queue_case s4[] = CMDQ_STOPPED_CASES("combining_grouped", CMDQ_GROUPS);

using msi = completion::poll_msi;
using locked = reclaim::sync_locked;
using cons = completion::poll_cons;
const queue_family<hurried_scenario<checked_config<allocation::cmpxchg_loop>>> r1(h1);
const queue_family<hurried_scenario<checked_config<allocation::owner_bits>>> r2(h2);
const queue_family<hurried_scenario<checked_config<allocation::combining>>> r3(h3);
const queue_family<hurried_scenario<checked_config<allocation::combining>>> r4(h4);
const queue_family<hurried_scenario<checked_config<allocation::cmpxchg_loop, msi>>> r5(h5);
const queue_family<hurried_scenario<checked_config<allocation::owner_bits, msi>>> r6(h6);
const queue_family<hurried_scenario<checked_config<allocation::combining, msi>>> r7(h7);
const queue_family<hurried_scenario<checked_config<allocation::combining, msi>>> r8(h8);
const queue_family<hurried_scenario<checked_config<allocation::cmpxchg_loop, cons, locked>>> r9(h9);
const queue_family<hurried_scenario<checked_config<allocation::owner_bits, cons, locked>>> r10(h10);
const queue_family<stopped_scenario<checked_config<allocation::cmpxchg_loop>>> r11(s1);
const queue_family<stopped_scenario<checked_config<allocation::owner_bits>>> r12(s2);
const queue_family<stopped_scenario<checked_config<allocation::combining>>> r13(s3);
const queue_family<stopped_scenario<checked_config<allocation::combining>>> r14(s4);

}  // namespace
}  // namespace cmdq::checks

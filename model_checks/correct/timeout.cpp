// SPDX-License-Identifier: BSL-1.0
#include "timeout_scenario.hpp"

namespace cmdq::checks {
namespace {

// clang-format off
#define CMDQ_TIMEOUT_CASE(name, how)                                                                                  \
  {{{"timeout/" name, "every call ends by its deadline, nothing is lost, and recover() resumes",                      \
     "2 producers, a device that stands still, ring of 4, every start", 3, schedule::random, 5000}, how}}
// clang-format on
const queue_case cmpxchg_loop[] = CMDQ_TIMEOUT_CASE("cmpxchg_loop", stalled);
const queue_case owner_bits[] = CMDQ_TIMEOUT_CASE("owner_bits", stalled);
const queue_case combining[] = CMDQ_TIMEOUT_CASE("combining", stalled);
const queue_case grouped[] = CMDQ_TIMEOUT_CASE("combining_grouped", stalled_grouped);
const queue_case by_msi[] = CMDQ_TIMEOUT_CASE("owner_bits_msi", stalled);
const queue_family<timeout_scenario<checked_config<allocation::cmpxchg_loop>>> r1(cmpxchg_loop);
const queue_family<timeout_scenario<checked_config<allocation::owner_bits>>> r2(owner_bits);
const queue_family<timeout_scenario<checked_config<allocation::combining>>> r3(combining);
const queue_family<timeout_scenario<checked_config<allocation::owner_bits, completion::poll_msi>>> r4(by_msi);
const queue_family<timeout_scenario<checked_config<allocation::combining>>> r5(grouped);

}  // namespace
}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
#include "queue_cases.hpp"

namespace cmdq::checks {
namespace {

using strategy = allocation::combining;

const queue_case cons[] = CMDQ_CASES("combining/cons", false, 1);
const queue_case msi32[] = CMDQ_CASES("combining/msi32", false, 2);
const queue_case msi64[] = CMDQ_CASES("combining/msi64", true, 1);

const queue_family<queue_scenario<checked_config<strategy, completion::poll_cons>>> r1(cons);
const queue_family<queue_scenario<checked_config<strategy, completion::poll_msi>>> r2(msi32);
const queue_family<queue_scenario<checked_config<strategy, completion::poll_msi>>> r3(msi64);

}  // namespace
}  // namespace cmdq::checks

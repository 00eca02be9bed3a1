// SPDX-License-Identifier: BSL-1.0
#include "queue_cases.hpp"

namespace cmdq::checks {
namespace {

using strategy = allocation::owner_bits;
using locked = reclaim::sync_locked;

const queue_case cons[] = CMDQ_CASES("owner_bits/cons", false, 1);
const queue_case msi32[] = CMDQ_CASES("owner_bits/msi32", false, 2);
const queue_case msi64[] = CMDQ_CASES("owner_bits/msi64", true, 1);
const queue_case sync_locked[] = CMDQ_CASES("owner_bits/sync_locked", false, 1);

const queue_family<queue_scenario<checked_config<strategy, completion::poll_cons>>> r1(cons);
const queue_family<queue_scenario<checked_config<strategy, completion::poll_msi>>> r2(msi32);
const queue_family<queue_scenario<checked_config<strategy, completion::poll_msi>>> r3(msi64);
const queue_family<queue_scenario<checked_config<strategy, completion::poll_cons, locked>>> r4(sync_locked);

}  // namespace
}  // namespace cmdq::checks

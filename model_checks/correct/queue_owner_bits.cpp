// SPDX-License-Identifier: BSL-1.0
#include "queue_cases.hpp"

namespace cmdq::checks {
namespace {

using strategy = allocation::owner_bits;
using locked = reclaim::sync_locked;
using by_cons = queue_family<queue_scenario<checked_config<strategy, completion::poll_cons>>>;
using by_msi = queue_family<queue_scenario<checked_config<strategy, completion::poll_msi>>>;
using by_lock = queue_family<queue_scenario<checked_config<strategy, completion::poll_cons, locked>>>;

const queue_case cons[] = CMDQ_CASES("owner_bits/cons", false, 1);
const queue_case msi32[] = CMDQ_CASES("owner_bits/msi32", false, 2);
const queue_case msi64[] = CMDQ_CASES("owner_bits/msi64", true, 1);
const queue_case sync_locked[] = CMDQ_CASES("owner_bits/sync_locked", false, 1);

const by_cons r1(cons);
const by_msi r2(msi32);
const by_msi r3(msi64);
const by_lock r4(sync_locked);

const queue_case two_cons[] = CMDQ_RING_OF_2_CASES("owner_bits/cons", false, 1);
const queue_case two_msi32[] = CMDQ_RING_OF_2_CASES("owner_bits/msi32", false, 1);
const by_cons r5(two_cons);
const by_msi r6(two_msi32);

}  // namespace
}  // namespace cmdq::checks

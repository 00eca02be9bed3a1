// SPDX-License-Identifier: BSL-1.0
#include "queue_cases.hpp"

namespace cmdq::checks {
namespace {

using strategy = allocation::cmpxchg_loop;
using locked = reclaim::sync_locked;
using by_cons = queue_family<queue_scenario<checked_config<strategy, completion::poll_cons>>>;
using by_msi = queue_family<queue_scenario<checked_config<strategy, completion::poll_msi>>>;
using by_lock = queue_family<queue_scenario<checked_config<strategy, completion::poll_cons, locked>>>;

const queue_case cons[] = CMDQ_CASES("cmpxchg_loop/cons", false, 1);
const queue_case msi32[] = CMDQ_CASES("cmpxchg_loop/msi32", false, 2);
const queue_case msi64[] = CMDQ_CASES("cmpxchg_loop/msi64", true, 1);
const queue_case sync_locked[] = CMDQ_CASES("cmpxchg_loop/sync_locked", false, 1);

const by_cons r1(cons);
const by_msi r2(msi32);
const by_msi r3(msi64);
const by_lock r4(sync_locked);

const queue_case two_cons[] = CMDQ_RING_OF_2_CASES("cmpxchg_loop/cons", false, 1);
const queue_case two_msi32[] = CMDQ_RING_OF_2_CASES("cmpxchg_loop/msi32", false, 1);
const by_cons r5(two_cons);
const by_msi r6(two_msi32);

// This strategy claims only what fits, so that more lists than the ring holds may be on their way.
const queue_case two_crowded[] = {
    {{"queue/cmpxchg_loop/cons/ring_of_2/2x2", CMDQ_EVERYTHING, "2 producers, 2 lists of 1, ring of 2, every start", 3,
      schedule::random, 3000},
     {.log2 = 1, .lists = 2, .unchecked = true}},
    {{"queue/cmpxchg_loop/cons/ring_of_2/unsynced", CMDQ_EVERYTHING " for lists that a later sync covers",
      "2 producers, 2 unsynced lists and a synced one, ring of 2, every start", 3, schedule::random, 3000},
     {.log2 = 1, .lists = 3, .unsynced = true, .unchecked = true}},
};
const by_cons r7(two_crowded);

}  // namespace
}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

/// With `_locked`: software CONS under the published lock, as in Linux.
std::vector<entrant> queues_cmpxchg_loop() {
  using cmdq::allocation::cmpxchg_loop;
  using locked =
      queue_config<cmpxchg_loop, cmdq::completion::poll_cons, cmdq::wait::spin_then_yield, cmdq::reclaim::sync_locked>;
  std::vector<entrant> all = queues_of<cmpxchg_loop>("cmpxchg_loop");
  all.push_back({"cmpxchg_loop_locked", "cons", "yield", side::ours, &make_queue<locked>});
  return all;
}

}  // namespace bench

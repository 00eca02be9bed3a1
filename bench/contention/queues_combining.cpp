// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

std::vector<entrant> queues_combining() {
  using namespace cmdq;
  using wait::spin_then_yield;
  auto all = queues_of<allocation::combining>("combining");
  using cons = in_groups<queue_config<allocation::combining, completion::poll_cons, spin_then_yield>>;
  using msi = in_groups<queue_config<allocation::combining, completion::poll_msi, spin_then_yield>>;
  all.push_back({"combining_groups", "cons", "yield", side::ours, &make_queue<cons>});
  all.push_back({"combining_groups", "msi", "yield", side::ours, &make_queue<msi>});
  return all;
}

}  // namespace bench

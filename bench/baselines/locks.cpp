// SPDX-License-Identifier: BSL-1.0
#include "contender.hpp"

namespace bench {

std::vector<entrant> lock_baselines() {
  using namespace baselines;
  return {
      entrant_of<locked_ring<spin_lock, held::until_done>>("spin_lock_held", side::baseline),
      entrant_of<locked_ring<spin_lock, held::until_published>>("spin_lock", side::baseline),
      entrant_of<locked_ring<ticket_lock, held::until_published>>("ticket_lock", side::baseline),
      entrant_of<locked_ring<mcs_lock, held::until_published>>("mcs_lock", side::baseline),
      entrant_of<locked_ring<std_mutex, held::until_published>>("std_mutex", side::baseline),
      entrant_of<in_order_ring>("in_order_ring", side::baseline),
  };
}

}  // namespace bench

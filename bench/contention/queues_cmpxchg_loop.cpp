// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

std::vector<entrant> queues_cmpxchg_loop() { return with_published<cmdq::allocation::cmpxchg_loop>("cmpxchg_loop"); }

}  // namespace bench

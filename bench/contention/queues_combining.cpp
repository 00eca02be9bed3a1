// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

std::vector<entrant> queues_combining() { return queues_of<cmdq::allocation::combining>("combining"); }

}  // namespace bench

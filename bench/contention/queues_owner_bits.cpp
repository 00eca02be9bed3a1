// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

std::vector<entrant> queues_owner_bits() { return queues_of<cmdq::allocation::owner_bits>("owner_bits"); }

}  // namespace bench

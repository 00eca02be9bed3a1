// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

std::vector<entrant> queues_owner_bits() { return with_published<cmdq::allocation::owner_bits>("owner_bits"); }

}  // namespace bench

// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

namespace bench {

std::vector<entrant> queues_delegated() {
  using namespace cmdq;
  return queues_of<allocation::delegated>("delegated");
}

}  // namespace bench

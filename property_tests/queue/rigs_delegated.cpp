// SPDX-License-Identifier: BSL-1.0
#include "rigs.hpp"

namespace cmdq::test {

std::unique_ptr<queue_face> make_delegated(const setup& s, const ring_memory<scheduled_platform>& m, front& device) {
  return make_with<allocation::delegated>(s, m, device);
}

}  // namespace cmdq::test

// SPDX-License-Identifier: BSL-1.0
#include "rigs.hpp"

namespace cmdq::test {

std::unique_ptr<queue_face> make_owner_bits(const setup& s, const ring_memory<scheduled_platform>& m, front& device) {
  return make_with<allocation::owner_bits>(s, m, device);
}

}  // namespace cmdq::test

// SPDX-License-Identifier: BSL-1.0
#include "replay/engine.hpp"

namespace cmdq::cli {

report run_owner_bits(const stream& s, const setup& with, const progress& tell) {
  return run_reclaiming<allocation::owner_bits>(s, with, tell);
}

}  // namespace cmdq::cli

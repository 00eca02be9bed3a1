// SPDX-License-Identifier: BSL-1.0
#include "replay/engine.hpp"

namespace cmdq::cli {

report run_cmpxchg_loop(const stream& s, const setup& with, const progress& tell) {
  return run_reclaiming<allocation::cmpxchg_loop>(s, with, tell);
}

}  // namespace cmdq::cli

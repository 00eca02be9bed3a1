// SPDX-License-Identifier: BSL-1.0
#include "replay/engine.hpp"

namespace cmdq::cli {

/// Combining has one CMD_SYNC for many lists and its own way to reclaim: there is no lock to choose.
report run_combining(const stream& s, const setup& with, const progress& tell) {
  if (with.reclaim != "counted") throw input_error("--reclaim sync_locked: combining takes no lock; limit: counted");
  return run_completing<allocation::combining, reclaim::counted>(s, with, tell);
}

}  // namespace cmdq::cli

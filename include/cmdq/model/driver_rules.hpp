// SPDX-License-Identifier: BSL-1.0
// What a correct driver never does. The device carries on as real ones do (it consumes the ring again, it executes the
// command) and counts, so that a test sees it.
#pragma once

#include <cmdq/smmuv3/quirks.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq::model {

struct anomalies {
  uint32_t prod_moved_wrongly = 0;  ///< PROD went back, or more than N entries ahead of CONS
  uint32_t forbidden_commands = 0;  ///< smmuv3::may_issue() says no for this part
  uint32_t unsynced_batches = 0;    ///< quirk sync_every_batch: PROD was moved to behind a command that is no CMD_SYNC
  uint32_t mixed_batches = 0;       ///< quirk one_class_per_batch: two classes between CMD_SYNCs
  uint32_t long_batches = 0;        ///< quirk batch_limit: more commands between CMD_SYNCs

  [[nodiscard]] constexpr uint32_t total() const noexcept {
    return prod_moved_wrongly + forbidden_commands + unsynced_batches + mixed_batches + long_batches;
  }
};

/// Watches the executed commands for what this part must not be given.
class driver_rules {
 public:
  constexpr void executed(const command& c, const smmuv3::quirks& part, anomalies& odd) noexcept {
    if (!smmuv3::may_issue(part, c)) ++odd.forbidden_commands;
    const command_class now = class_of(c.word[0]);
    if (now == command_class::sync) {
      count_ = 0;
      return;
    }
    if (part.one_class_per_batch && count_ != 0 && now != class_) ++odd.mixed_batches;
    if (part.batch_limit != 0 && count_ == part.batch_limit) ++odd.long_batches;
    class_ = now;
    ++count_;
  }
  constexpr void reset() noexcept { count_ = 0; }

 private:
  command_class class_ = command_class::unknown;
  uint32_t count_ = 0;
};

}  // namespace cmdq::model

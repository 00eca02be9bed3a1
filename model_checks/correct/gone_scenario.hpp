// SPDX-License-Identifier: BSL-1.0
// A device that is taken away: nobody waits for it, or for another CPU that does.
#pragma once

#include "../support/queue_scenario.hpp"

namespace cmdq::checks {

template <class Config>
struct gone_scenario : queue_scenario<Config> {
  using base = queue_scenario<Config>;
  using base::base;

  void produce(unsigned index) override {
    for (unsigned l = 0; l < this->work_.lists; ++l) {
      command list[max_commands];
      this->write_list(index, l, list);
      const outcome o = this->producers_[index].issue(list, 1);
      if (!o.ok()) {
        check(o.code == status::device_fault || o.code == status::stalled, "a call says what is wrong, or fails fast");
        return;
      }
      this->done(index, l);
    }
  }
  void finish() override {}
};

}  // namespace cmdq::checks

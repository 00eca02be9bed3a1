// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/queue_scenario.hpp"

#include <cmdq/wait/park.hpp>

namespace cmdq::checks {

/// Sleepers wait for a word that the last thread stores.
template <class Channel, unsigned Sleepers>
struct parking : scenario {
  Channel channel;
  P::atomic<std::uint32_t> word;

  void thread(unsigned index) override {
    if (index == Sleepers) {
      word.store(1, at<site::told_store>);
      channel.wake();
      return;
    }
    const auto blocked = [this] { return word.load(at<site::told_wait>) == 0; };
    while (blocked()) channel.sleep_while(blocked, no_deadline);
  }
};

/// wait::park without the polls before the sleep: every wait for another CPU sleeps.
struct eager_park {
  template <class Platform>
  using channel = wait::park::channel<Platform>;
  template <class Platform>
  struct waiter : wait::park::waiter<Platform> {
    template <class Blocked>
    void idle(channel<Platform>& where, const void*, const Blocked& blocked, time_budget<Platform>& budget) {
      ++this->n_;
      if (!budget.expired()) where.sleep_while(blocked, budget.end_ns());
    }
    void idle_device(const void* line) {
      ++this->n_;
      Platform::pause(line, 0);
    }
  };
};

}  // namespace cmdq::checks

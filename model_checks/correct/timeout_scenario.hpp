// SPDX-License-Identifier: BSL-1.0
// A device that stands still: every call ends by its deadline, and the queue goes on once the device has caught up.
#pragma once

#include "../support/queue_scenario.hpp"

namespace cmdq::checks {

template <class Config>
struct timeout_scenario : queue_scenario<Config> {
  using base = queue_scenario<Config>;
  using base::base;
  bool inserted[2] = {};
  P::atomic<std::uint32_t> ended;

  void produce(unsigned index) override {
    command list[max_commands];
    this->write_list(index, 0, list);
    time_out(index, list);
    const bool owes = inserted[index];
    const outcome next = time_out(index, list);
    check(!owes || next.inserted == 0, "what is owed is settled before anything is inserted");
    ended.fetch_add(1, at<site::device_hold>);
    if (index != 0) return;
    while (ended.load(at<site::device_hold>) != 2) P::pause(nullptr, 0);
    this->device_.release();
    while (this->queue_.recover() != status::ok) P::pause(nullptr, 0);
    check(this->device_.executed(tag_of(0, 0, 0)) == inserted[0], "recover() waits for what was in the ring");
    check(this->device_.executed(tag_of(1, 0, 0)) == inserted[1], "recover() waits for what was in the ring");
    // The device may still be slow, but not for ever.
    this->write_list(0, last_list(), list);
    const outcome again = this->producers_[0].issue_for(list, 1, no_deadline);
    check(again.ok(), "after recover() the queue works");
    this->done(0, last_list());
  }
  void finish() override {
    check(this->device_.executed(tag_of(0, last_list(), 0)), "the list after recover() was executed");
  }

 private:
  outcome time_out(unsigned index, const command* list) {
    const outcome o = this->producers_[index].issue(list, 1);
    check(o.code == status::timeout || o.code == status::stalled, "a call ends by its deadline, or fails fast");
    check(o.code == status::timeout || o.inserted == 0, "what was refused is not in the ring");
    inserted[index] = inserted[index] || o.inserted == 1;
    return o;
  }
  /// A producer's lists are numbered in the order in which they are inserted.
  [[nodiscard]] unsigned last_list() const { return inserted[0] ? 1 : 0; }
};

inline constexpr workload stalled{.lists = 2, .deadline = 3, .device = {.stall_after = 0}};
inline constexpr workload stalled_grouped{.lists = 2, .groups = 2, .deadline = 3, .device = {.stall_after = 0}};

}  // namespace cmdq::checks

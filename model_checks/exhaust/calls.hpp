// SPDX-License-Identifier: BSL-1.0
// Calls that may end early, or never, beside others that must not notice.
#pragma once

#include "registry.hpp"

namespace cmdq::checks {

/// Calls with a deadline. What ends with a time-out may be in the ring: then it is executed all the same; what was
/// refused is not.
template <class Config, bool stops = false>
class late_scenario : public queue_scenario<Config> {
 public:
  using base = queue_scenario<Config>;
  using base::base;
  static constexpr std::uint64_t deadline_ns = 100'000'000;

  void finish() override {
    for (unsigned p = 0; p < this->work_.producers; ++p)
      for (unsigned l = 0; l < this->work_.lists; ++l) {
        const unsigned tag = tag_of(p, l, 0);
        if (!ended_[tag]) continue;
        check(inserted_[tag] || !this->device_.executed(tag), "what was refused is not executed");
        check(!inserted_[tag] || stops || this->device_.executed(tag), "what is in the ring is executed");
      }
  }

 protected:
  void produce(unsigned index) override {
    for (unsigned l = 0; l < this->work_.lists; ++l) {
      command list[max_commands];
      this->write_list(index, l, list);
      const outcome o = this->producers_[index].issue_for(list, 1, deadline_ns);
      const unsigned tag = tag_of(index, l, 0);
      ended_[tag] = true;
      inserted_[tag] = o.inserted == 1 && tag != this->work_.illegal;
      const bool late = o.code == status::timeout || o.code == status::stalled;
      check(o.code == this->expected(index, l) || late, "a call ends with its own list's status, or late");
      check(late || o.inserted == 1, "what is done was inserted");
      if (!late) this->done(index, l);
    }
  }

 private:
  bool ended_[max_tags] = {};
  bool inserted_[max_tags] = {};
};

/// A caller of recover() and handle_errors() beside the producers: nobody's list is harmed.
template <class Config>
class mended_scenario : public queue_scenario<Config> {
 public:
  using base = queue_scenario<Config>;
  using base::base;

  void thread(unsigned index) override {
    if (index != this->work_.producers) return base::thread(index < this->work_.producers ? index : index - 1);
    const status s = this->queue_.recover();
    check(s == status::ok || s == status::stalled, "recover() says whether the device has caught up");
  }
};

}  // namespace cmdq::checks

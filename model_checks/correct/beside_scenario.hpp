// SPDX-License-Identifier: BSL-1.0
// Calls that end early, or stop in the middle, beside another producer's.
#pragma once

#include "../support/queue_scenario.hpp"

namespace cmdq::checks {

/// What is common: a producer that inserts until its calls are used up, and settles in the end.
template <class Config>
struct beside_scenario : queue_scenario<Config> {
  using base = queue_scenario<Config>;
  using base::base;
  unsigned inserted[3] = {};

  void finish() override {
    for (unsigned p = 0; p < this->work_.producers; ++p)
      for (unsigned l = 0; l < this->work_.lists; ++l)
        check(this->device_.executed(tag_of(p, l, 0)) == (l < inserted[p]),
              "what was inserted, and only that, is done");
    check(this->queue_.prod_register() == geometry{this->work_.log2}.to_register(this->device_.next()),
          "the device was told everything");
  }

 protected:
  /// Calls that may end by a deadline of `ns`. A list that was not inserted is tried again as the next.
  void hurry(unsigned index, std::uint64_t ns) {
    unsigned& next = inserted[index];
    for (unsigned call = 0; call < this->work_.lists; ++call) {
      command list[max_commands];
      this->write_list(index, next, list);
      const outcome o = this->producers_[index].issue_for(list, 1, ns);
      check(o.ok() || o.code == status::timeout, "beside a working device a call ends well, or by its own deadline");
      check(!o.ok() || o.inserted == 1, "what ends well is inserted");
      next += o.inserted;
    }
    check(this->producers_[index].issue_for(nullptr, 0, no_deadline).ok(), "what is owed can be settled");
    for (unsigned l = 0; l < next; ++l) this->done(index, l);
  }
  void go_on(unsigned index) {
    base::produce(index);
    inserted[index] = this->work_.lists;
  }
};

/// Producer 0 does not care about time, the others give up at once.
template <class Config>
struct hurried_scenario : beside_scenario<Config> {
  using base = beside_scenario<Config>;
  using base::base;
  void produce(unsigned index) override {
    if (index == 0) {
      this->go_on(index);
    } else {
      this->hurry(index, 1);
    }
  }
};

/// Producer 0 stops at any of its accesses until the others' calls have ended.
template <class Config>
struct stopped_scenario : beside_scenario<Config> {
  using base = beside_scenario<Config>;

  explicit stopped_scenario(const workload& w) : base(w) {
    stopped_thread::goes_on = false;
    stopped_thread::accesses = rl::rand(80);
    stopped_thread::thread = 0;
  }
  ~stopped_scenario() override { stopped_thread::thread = stopped_thread::none; }

  void produce(unsigned index) override {
    if (index == 0) return this->go_on(index);
    command list[max_commands];
    for (unsigned call = 0; call < this->work_.lists; ++call) {
      this->write_list(index, this->inserted[index], list);
      const outcome o = this->producers_[index].issue_for(list, 1, 3);
      check(o.ok() || o.code == status::timeout, "a call ends, wherever another one stands");
      this->inserted[index] += o.inserted;
    }
    stopped_thread::goes_on = ++ended_ + 1 == this->work_.producers;
    check(this->producers_[index].issue_for(nullptr, 0, no_deadline).ok(), "what is owed can be settled");
    for (unsigned l = 0; l < this->inserted[index]; ++l) this->done(index, l);
  }

 private:
  unsigned ended_ = 0;
};

}  // namespace cmdq::checks

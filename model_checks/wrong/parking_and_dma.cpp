// SPDX-License-Identifier: BSL-1.0
#include "../correct/dma_scenarios.hpp"
#include "../correct/parking_scenarios.hpp"

namespace cmdq::checks {
namespace {

struct wrong_park_no_fence : parking<wait::park::channel<P>, 1> {
  static constexpr facts about{.name = "wrong/park_without_the_sleepers_fence",
                               .proves = "lost wake-up: the sleeper looks at the word before it is seen to sleep",
                               .bounds = "1 sleeper, 1 waker",
                               .threads = 2,
                               .how = schedule::full,
                               .expected = ending::deadlock,
                               .broken = {site::park_fence, fault::skipped}};
};
struct wrong_park_uncounted : parking<wait::park::channel<P>, 1> {
  static constexpr facts about{.name = "wrong/park_sleeper_not_counted",
                               .proves = "lost wake-up: the waker does not know of the sleeper",
                               .bounds = "1 sleeper, 1 waker",
                               .threads = 2,
                               .how = schedule::full,
                               .expected = ending::deadlock,
                               .broken = {site::sleepers_add, fault::skipped}};
};
struct wrong_dma_lock : exclusion<dma::spin_lock<P>> {
  static constexpr facts about{.name = "wrong/dma_lock_tests_then_sets",
                               .proves = "the lock is tested and taken in two steps",
                               .bounds = "2 threads, 1 acquisition each",
                               .threads = 2,
                               .how = schedule::full,
                               .expected = ending::livelock,
                               .broken = {site::dma_lock, fault::lost_update}};
};
struct wrong_flush_no_fence : flush_scenario<dma::flush_queue<P>> {
  static constexpr facts about{.name = "wrong/flush_begins_before_the_clear",
                               .proves = "a range is released by a flush that began before its page-table clear",
                               .bounds = "1 unmap beside 1 flush",
                               .threads = 2,
                               .how = schedule::full,
                               .expected = ending::assertion,
                               .broken = {site::flush_fence, fault::skipped}};
  void thread(unsigned index) override {
    if (index == 0) {
      unmap(0);
    } else {
      flush();
    }
  }
};

struct wrong_slot : slot_scenario {
  static constexpr facts about{.name = "wrong/producer_looked_at_then_taken",
                               .proves = "a producer that is given back in between stays taken",
                               .bounds = "2 calls, 1 producer",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3,
                               .expected = ending::livelock,
                               .broken = {site::slot_own, fault::lost_update}};
};
struct wrong_atc : atc_scenario {
  static constexpr facts about{.name = "wrong/atc_attached_without_a_fence",
                               .proves = "an ATC is filled from an entry whose invalidation does not name it",
                               .bounds = "1 unmap beside 1 attach and a walk",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::assertion,
                               .broken = {site::atc_attach_fence, fault::skipped}};
};
struct wrong_gate : gate_scenario<dma::gate<P>> {
  static constexpr facts about{
      .name = "wrong/gate_closed_in_two_steps",
      .proves = "the gate is looked at and closed in two steps: a call that leaves in between is waited for, for ever",
      .bounds = "2 calls beside closing and opening",
      .threads = 2,
      .how = schedule::bounded,
      .bound = 3,
      .expected = ending::livelock,
      .broken = {site::gate_close, fault::lost_update}};
};

const registration<wrong_park_no_fence> r1;
const registration<wrong_park_uncounted> r2;
const registration<wrong_dma_lock> r3;
const registration<wrong_flush_no_fence> r4;
const registration<wrong_slot> r5;
const registration<wrong_atc> r6;
const registration<wrong_gate> r7;

}  // namespace
}  // namespace cmdq::checks

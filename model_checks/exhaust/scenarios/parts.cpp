// SPDX-License-Identifier: BSL-1.0
// The lock and the sleeping of threads alone. What one holder does is plain data: a second one beside it is a race.
#include "../../correct/lock_scenarios.hpp"
#include "../../correct/parking_scenarios.hpp"
#include "../registry.hpp"

namespace cmdq::checks {
namespace {

/// Sharers look at what an exclusive holder changes; what it does, the last of them may do as well.
template <unsigned Sharers, unsigned Tries>
struct lock_holders : scenario {
  locks::sync_lock<P, wait::spin> lock;
  P::plain<std::uint32_t> slot;
  P::plain<std::uint32_t> moved;

  void thread(unsigned index) override {
    if (index < Sharers) {
      time_budget<P> forever(no_deadline);
      lock.lock_shared(1, forever);
      static_cast<void>(slot.get());
      if (lock.try_unlock_shared()) return;
      moved.set(moved.get() + 1);
      lock.unlock_shared();
    } else if (lock.try_lock_exclusive()) {
      slot.set(slot.get() + 1);
      moved.set(moved.get() + 1);
      lock.unlock_exclusive();
    }
  }
};
template <unsigned Sharers, unsigned Tries>
struct named_holders : lock_holders<Sharers, Tries> {
  static constexpr auto size = exhaust::kind::everyday;
  static constexpr facts about{
      .name = Sharers == 1 ? "lock/1_sharer_2_tries"
              : Tries == 1 ? "lock/2_sharers_1_try"
                           : "lock/2_sharers_2_tries",
      .proves = "exclusive holders are alone, and so is the last sharer; nobody waits for ever",
      .bounds = "1 acquisition by each",
      .threads = Sharers + Tries,
      .how = schedule::full};
};
const explored_alone<named_holders<1, 2>> r1;
const explored_alone<named_holders<2, 1>> r2;
const explored_alone<named_holders<2, 2>> r3;

template <unsigned Sleepers>
struct named_parking : parking<wait::park::channel<P>, Sleepers> {
  static constexpr auto size = exhaust::kind::everyday;
  static constexpr facts about{.name = Sleepers == 2 ? "park/2_sleepers" : "park/3_sleepers",
                               .proves = "all sleepers see the new value or are woken",
                               .bounds = "1 waker",
                               .threads = Sleepers + 1,
                               .how = schedule::full};
};
const explored_alone<named_parking<2>> r4;
const explored_alone<named_parking<3>> r5;

}  // namespace
}  // namespace cmdq::checks

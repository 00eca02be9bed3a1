// SPDX-License-Identifier: BSL-1.0
// The loop that every wait on a CPU-written word goes through.
#pragma once

#include <cmdq/wait/spin.hpp>

namespace cmdq {

/// Polls `word` until `wanted(value)` holds; false when the budget ends first. Progress: ends when the awaited store
/// comes or the budget is used up. Cost: one load per poll; the clock is read only every few polls.
template <class P, class Wait, class Cell, site S, class Wanted>
bool await(typename Wait::template channel<P>& where, const Cell& word, at_site<S> s, const Wanted& wanted,
           time_budget<P>& budget) {
  if (wanted(word.load(s))) return true;
  typename Wait::template waiter<P> waiting;
  const auto blocked = [&] { return !wanted(word.load(s)); };
  for (;;) {
    waiting.idle(where, &word, blocked, budget);
    if (wanted(word.load(s))) return true;
    if (waiting.clock_due() && budget.expired()) return false;
  }
}

/// The same without a deadline: only for waits on CPUs that are between claim and publication and wait for no device.
template <class P, class Wait, class Cell, site S, class Wanted>
void await_always(typename Wait::template channel<P>& where, const Cell& word, at_site<S> s, const Wanted& wanted) {
  time_budget<P> forever(no_deadline);
  static_cast<void>(await<P, Wait>(where, word, s, wanted, forever));
}

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// The loop that every wait on a CPU-written word goes through.
#pragma once

#include <cmdq/wait/spin.hpp>

namespace cmdq {

namespace detail {
/// What follows a first fruitless poll. One more poll after the deadline: a thread that was off its processor for
/// longer than its budget finds what came meanwhile.
template <class P, class Wait, class Cell, site S, class Wanted>
[[gnu::noinline, gnu::cold]] bool await_on(typename Wait::template channel<P>& where, const Cell& word, at_site<S> s,
                                           const Wanted& wanted, time_budget<P>& budget) {
  typename Wait::template waiter<P> waiting;
  const auto blocked = [&] { return !wanted(word.load(s)); };
  while (!budget.none()) {
    waiting.idle(where, &word, blocked, budget);
    if (wanted(word.load(s))) return true;
    if (waiting.clock_due() && budget.expired()) return wanted(word.load(s));
  }
  return false;
}
}  // namespace detail

/// Polls `word` until `wanted(value)` holds; false when the budget ends first. Progress: ends when the awaited store
/// comes or the budget is used up. Cost: one load per poll; the clock is read only every few polls.
template <class P, class Wait, class Cell, site S, class Wanted>
[[gnu::always_inline]] inline bool await(typename Wait::template channel<P>& where, const Cell& word, at_site<S> s,
                                         const Wanted& wanted, time_budget<P>& budget) {
  return wanted(word.load(s)) || detail::await_on<P, Wait>(where, word, s, wanted, budget);
}

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/claim_ahead.hpp>

namespace cmdq::allocation {

/// Software CONS that moves from range end to range end, and who waits for it: what is done here is a range, not a
/// list.
template <class Ring, class Sync, class Reclaim>
class ranges : public claim_ahead<Ring, Sync, Reclaim> {
  using base = claim_ahead<Ring, Sync, Reclaim>;

 public:
  using typename base::P;
  using typename base::who;

  ranges(Ring& ring, Sync& sync) noexcept
      : base(ring, sync), own_sync_(ring.opts().sync_every_batch ? 1U : 0U), space_(ring.opts().first) {}

  /// Moves software CONS to the last range end before `to`, up to which the device is done and all MSIs have come,
  /// and wakes the members of what is done.
  void advance(position to) noexcept {
    position done = cons_.load(at<site::cons_look>);
    const position from = done;
    const position told = ring_.told();  // read later: never behind `done`
    if (reached(to, told)) done = told;  // the end of a range, too
    while (distance(done, told) > 0) {
      const position end = ring_.range_end(done).load(at<site::range_end_load>);
      if (!reached(to, end)) break;
      done = end;
    }
    if (done != from && base::move_cons(done)) wake(from, done);
  }

  /// Start of the range whose CMD_SYNC is at `p`; `p` where each list has its own.
  [[nodiscard]] position covered_from(position p) const noexcept {
    if (own_sync_ != 0) return p;
    position from = cons_.load(at<site::cons_look>);
    const position told = ring_.limit();  // the device may be there before its owner has handed on the turn
    while (distance(from, told) > 0) {
      const position end = ring_.range_end(from).load(at<site::range_end_load>);
      if (passed(end, p)) return from;
      from = end;
    }
    return p;
  }

  /// Asks for a ticket's list without waiting: ok, would_block or device_fault.
  status check(position done_at, who& w) noexcept {
    if (reached(cons_.load(at<site::cons_done>), done_at)) return status::ok;
    const sighting seen = sync_.look(*this, w);
    advance(seen.cons);
    if (reached(cons_.load(at<site::cons_done>), done_at)) return status::ok;
    return seen.code == status::ok ? status::would_block : seen.code;
  }

  /// Waits for a ticket's list within the budget.
  status await_ticket(position done_at, who& w) noexcept { return await_range(cons_, done_at, w); }

 protected:
  using base::ring_, base::sync_, base::word_, base::cons_;

  status admit(intent& what, who& w) noexcept { return base::admit(*this, what, w); }
  [[gnu::always_inline]] sighting wait_for_sync(position p, who& w) noexcept { return sync_.wait(*this, p, w); }

  /// [S] Waits until the claimed entries up to `end` are free; false when the device has failed. Cost: mostly one
  /// load of a word that changes once a lap, in a ring that is nearly full more often.
  [[gnu::always_inline]] bool has_space(position end, who& w) noexcept {
    return end - space_.load(at<site::cons_space>) <= ring_.shape().entries() || renew_space(end, w);
  }
  [[gnu::noinline]] bool renew_space(position end, who& w) noexcept {
    if (!base::own_space(*this, end, w)) return false;
    base::forward(space_, cons_.load(at<site::cons_space>));
    return true;
  }

  /// Waits until `word`, software CONS or a group's copy, reaches `end`. Now and then the waiter looks at the device
  /// itself: for its errors, and because an owner need not wait for its own range (a ticket) or may be off its
  /// processor.
  template <class Word>
  [[gnu::noinline, gnu::cold]] status await_range(Word& word, position end, who& w) noexcept {
    typename Ring::wait_policy::template waiter<P> waiting;
    const auto blocked = [&] { return !reached(word.load(at<site::cons_done>), end); };
    while (blocked()) {
      if (waiting.device_due()) {
        const sighting seen = sync_.look(*this, w);
        advance(seen.cons);
        if (reached(cons_.load(at<site::cons_done>), end)) break;
        if (seen.code != status::ok) return seen.code;
      }
      if (waiting.clock_due() && w.budget.expired()) return status::timeout;
      w.stats.add(stats::event::sync_wait);
      w.stats.add(waiting.kind());
      time_budget<P> nap(longest_sleep_ns);
      waiting.idle(ring_.done_channel(end), &word, blocked, nap);
    }
    return status::ok;
  }

  void wake(position from, position to) noexcept {
    const uint32_t quads = (to - from + 3) / 4 + 1;
    for (uint32_t i = 0; i < quads && i < Ring::done_channels; ++i) ring_.done_channel(from + 4 * i).wake();
  }

  /// 1 where each list ends in a CMD_SYNC of its own (options.sync_every_batch): the last one is the range's.
  const uint32_t own_sync_;

 private:
  /// A member that sleeps wakes to look at the device itself: the owner of its range need not wait (a ticket).
  static constexpr uint64_t longest_sleep_ns = 200'000;

  /// [S] A copy of software CONS that lags by up to a lap, for the look at space: most claims find it unchanged.
  alignas(64) typename Ring::template atomic<position> space_;
};

}  // namespace cmdq::allocation

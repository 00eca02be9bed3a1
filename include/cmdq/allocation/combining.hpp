// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/claim_ahead.hpp>

namespace cmdq::allocation {

/// One CMD_SYNC for all lists that gather behind an owner (none where nobody in the range waits). Members claim only
/// their commands and wait for software CONS, which here moves from range end to range end; only the owner waits for
/// the device. A range stays open while two earlier ones are with the device, so that a slow device is given few, large
/// ranges and a fast one is never kept waiting. Wait-free claim; the owner's close is lock-free and fails at most once
/// per other producer.
struct combining {
  static constexpr bool claims_before_space = true;
  static constexpr bool needs_range_ends = true;

  template <class Ring, class Sync, class Reclaim>
  class state : public claim_ahead<Ring, Sync, Reclaim> {
    using base = claim_ahead<Ring, Sync, Reclaim>;
    using base::ring_, base::sync_, base::word_, base::cons_, base::position_of;

   public:
    using typename base::P;
    using typename base::who;

    state(Ring& ring, Sync& sync) noexcept
        : base(ring, sync),
          own_sync_(ring.opts().sync_every_batch ? 1U : 0U),
          count_sync_(ring.opts().sync_every_batch ? 0U : one_sync),
          previous_(uint64_t{ring.opts().first} << 1) {}

    /// Moves software CONS to the last range end that the device has passed, and wakes the members of what is done.
    void advance(position to) noexcept {
      position done = cons_.load(at<site::cons_look>);
      const position from = done;
      const position told = ring_.told();  // read later: never behind `done`
      if (reached(to, told)) done = told;  // the end of a range, too
      while (distance(done, told) > 0) {
        const position end = ring_.range_end(done).load(at<site::range_end_load>);
        if (!reached(to, end)) break;
        if (sync_.by_msi() && sync_.landed(own_sync_ != 0 ? done : end - 1, end) != end) break;
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

    /// Claims `n` commands; `n` = 0 takes part in a range for the sake of its CMD_SYNC. Errors: timeout (nothing
    /// claimed), device_fault.
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, who& w, reservation& r) noexcept {
      if (what != intent::waited) {
        const status s = base::admit(*this, what, w);
        if (s != status::ok) return s;
      }
      const uint64_t gathered = (what != intent::unsynced ? count_sync_ : 0U) | one_list;
      r.n = n + own_sync_;
      const uint64_t before = word_.fetch_add((static_cast<uint64_t>(r.n) << 32) | gathered, at<site::claim_add>);
      r.start = position_of(before);
      // A member is done when the range's CMD_SYNC, which comes behind all members, is.
      r.done_at = r.start + n + 1;
      r.own_sync = own_sync_ != 0;
      r.owner = base::gathered_of(before) == 0;
      r.waited = what == intent::waited;
      // One entry more than the commands: the range's CMD_SYNC may be right behind.
      return base::own_space(*this, r.done_at, w) ? status::ok : abandon(r, w);
    }

    /// Makes the written entries valid and, as owner, closes the range and tells the device.
    [[gnu::always_inline]] void publish(reservation& r, who& w) noexcept {
      if (r.own_sync) put_sync(r.end() - 1, w);
      tell_as_owner(r, w);
    }

    /// Waits until the range is done: the owner for the device, a member for software CONS.
    [[gnu::always_inline]] status complete(const reservation& r, who& w) noexcept {
      if (!r.owner) return await_range(r.done_at, w);
      const sighting seen = sync_.wait(*this, r.done_at - 1, w);
      if (seen.code == status::ok) announce(r.start, r.done_at);
      return seen.code;
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
    status await_ticket(position done_at, who& w) noexcept { return await_range(done_at, w); }

   private:
    /// A member that sleeps wakes to look at the device itself: the owner of its range need not wait (a ticket).
    static constexpr uint64_t longest_sleep_ns = 200'000;

    /// The device has failed under a claim: it is filled and the turn handed on, so that nobody waits for it.
    [[gnu::noinline, gnu::cold]] status abandon(reservation r, who& w) noexcept {
      base::fill(r);
      tell_as_owner(r, w);
      return status::device_fault;
    }

    [[gnu::always_inline]] void tell_as_owner(reservation& r, who& w) noexcept {
      if (!r.owner) {
        ring_.mark_valid(r.start, r.end());
        return;
      }
      ring_.take_turn(r.start);
      if (r.waited) keep_open(r.start, w);
      const position end = close(r, w);
      ring_.range_end(r.start).store(end, at<site::range_end_store>);
      previous_.store((uint64_t{r.start} << 1) | (r.waited ? 0U : unattended), at<site::range_end_store>);
      ring_.tell(r.start, end, w);
      r.done_at = end;
    }

    /// Group commit: others may join while the range before the previous one is not done. Ends with the budget at the
    /// latest, so a standing device delays a list but keeps nothing back.
    [[gnu::always_inline]] void keep_open(position start, who& w) noexcept {
      const uint64_t previous = previous_.load(at<site::range_end_load>);
      const auto from = static_cast<position>(previous >> 1);
      if (from == start || reached(cons_.load(at<site::cons_done>), from)) return;
      keep_open_until(from, (previous & unattended) != 0, w);
    }
    [[gnu::noinline]] void keep_open_until(position from, bool nobody_looks, who& w) noexcept {
      if (nobody_looks) static_cast<void>(check(from, w));
      await_range(from, w);
    }

    /// Closes the range and makes all of it valid; returns its end. Unless nobody in it wants to know that, or each
    /// list has its own, its CMD_SYNC is claimed in the same step. The first guess is that nobody has joined.
    [[gnu::always_inline]] position close(const reservation& r, who& w) noexcept {
      const bool synced = r.waited && count_sync_ != 0;
      const position end = r.end() + (synced ? 1U : 0U);
      uint64_t seen = (static_cast<uint64_t>(r.end()) << 32) | (synced ? one_sync : 0U) | one_list;
      if (!word_.compare_exchange(seen, static_cast<uint64_t>(end) << 32, at<site::gather_close>))
        return close_gathered(seen, r.start, r.end(), w);
      if (synced) put_sync(r.end(), w);
      ring_.mark_valid(r.start, end);
      return end;
    }

    /// The same for a range with members, or a ticket's. `seen`: the claim word; [start, own_end): the owner's list.
    [[gnu::noinline]] position close_gathered(uint64_t seen, position start, position own_end, who& w) noexcept {
      w.stats.add(stats::event::claim_retry);  // the guess
      bool synced = base::gathered_of(seen) >= one_sync;
      while (!word_.compare_exchange(seen, static_cast<uint64_t>(position_of(seen) + (synced ? 1U : 0U)) << 32,
                                     at<site::gather_close>)) {
        w.stats.add(stats::event::claim_retry);
        synced = base::gathered_of(seen) >= one_sync;
      }
      const position lists_end = position_of(seen);
      const position end = lists_end + (synced ? 1U : 0U);
      ring_.mark_valid(start, own_end);
      static_cast<void>(base::own_space(*this, end, w));  // [S] for the CMD_SYNC's slot
      ring_.wait_valid(own_end, lists_end);
      if (synced) put_sync(lists_end, w);
      ring_.mark_valid(lists_end, end);
      return end;
    }

    /// Waits until software CONS reaches `end`. Now and then the waiter looks at the device itself: for its errors, and
    /// because an owner need not wait for its own range (a ticket) or may be off its processor.
    [[gnu::noinline, gnu::cold]] status await_range(position end, who& w) noexcept {
      typename Ring::wait_policy::template waiter<P> waiting;
      const auto blocked = [&] { return !reached(cons_.load(at<site::cons_done>), end); };
      while (blocked()) {
        if (waiting.device_due()) {
          const sighting seen = sync_.look(*this, w);
          advance(seen.cons);
          if (!blocked()) break;
          if (seen.code != status::ok) return seen.code;
        }
        if (waiting.clock_due() && w.budget.expired()) return status::timeout;
        w.stats.add(stats::event::sync_wait);
        w.stats.add(waiting.kind());
        time_budget<P> nap(longest_sleep_ns);
        waiting.idle(ring_.done_channel(end), &cons_, blocked, nap);
      }
      return status::ok;
    }

    /// The owner's range [start, end) is done. Mostly it is the oldest one: then one step, without the walk.
    void announce(position start, position end) noexcept {
      position oldest = start;
      if (cons_.compare_exchange(oldest, end, at<site::cons_advance>)) {
        wake(start, end);
      } else {
        advance(end);
      }
    }

    void put_sync(position p, who& w) noexcept {
      ring_.entry(p).put(sync_.sync_for(p));
      w.stats.add(stats::event::sync_sent);
    }

    void wake(position from, position to) noexcept {
      const uint32_t quads = (to - from + 3) / 4 + 1;
      for (uint32_t i = 0; i < quads && i < Ring::done_channels; ++i) ring_.done_channel(from + 4 * i).wake();
    }

    static constexpr uint32_t one_list = 1;
    static constexpr uint32_t one_sync = 1U << 16;
    static constexpr uint64_t unattended = 1;

    /// 1 where each list ends in a CMD_SYNC of its own (options.sync_every_batch): the last one is the range's.
    const uint32_t own_sync_;
    /// What a list that wants to know its end adds to the claim word: no CMD_SYNC where it has its own.
    const uint32_t count_sync_;
    /// Start of the range told last, and whether nobody waits for it (bit 0). Written in turn.
    typename Ring::template atomic<uint64_t> previous_;
  };
};

}  // namespace cmdq::allocation

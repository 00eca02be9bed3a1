// SPDX-License-Identifier: BSL-1.0
// A strategy that is not the library's: a ticket lock in front of a plain ring. Who wants to claim takes a ticket,
// waits for its turn and for space, claims, and hands the turn on; writing, publishing and waiting go on at the same
// time. The README beside it tells how it runs under each of the project's tests.
#pragma once

#include <cmdq/allocation/own_sync_wait.hpp>

namespace cmdq::allocation {

struct ticket_lock {
  static constexpr bool claims_before_space = false;  ///< make_plan(): a ring of one list is enough
  static constexpr bool needs_range_ends = false;     ///< no list ends in somebody else's CMD_SYNC
  static constexpr bool spreads_valid_bits = false;
  static constexpr bool gathers_in_groups = false;
  static constexpr bool delegates = false;

  /// What it inherits: claims (the claim word, software CONS, the line of those who wait, duties that a call leaves
  /// when its budget ends) and own_sync_wait (each list has a CMD_SYNC of its own).
  template <class Ring, class Sync, class Reclaim>
  class state : public own_sync_wait<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim> {
    using base = own_sync_wait<state, Ring, Sync, Reclaim>;
    using base::ring, base::word_, base::reclaim_, base::position_of, base::gathered_of;

   public:
    using base::base;
    using typename base::who;

    /// Claims `n` entries and one for the CMD_SYNC, unless nobody will wait. Errors: timeout, device_fault; nothing is
    /// claimed then. First come, first served; who gives up its turn at its deadline is skipped.
    status reserve(uint32_t n, intent what, written, who& w, reservation& r) noexcept {
      reservation mine;
      mine.own_sync = what != intent::unsynced;
      mine.n = n + (mine.own_sync ? 1U : 0U);
      mine.waited = what == intent::waited;
      const status s = base::in_line(w, [&] { return claim_if_it_fits(mine); });
      if (s == status::ok) r = mine;
      return s;
    }

    /// Makes the entries valid; the first in a gathered range tells the device, for all in it.
    void publish(reservation& r, who& w) noexcept {
      if (r.own_sync) {
        base::put_own_sync(r, w);
        if (r.waited) reclaim_.enter(1, w.budget);
      }
      base::tell_as_owner(r, w);
    }

   private:
    friend class own_sync_wait<state, Ring, Sync, Reclaim>;
    friend class claims<state, Ring, Sync, Reclaim>;

    /// In turn, so nobody else claims; an owner may close its range at the same time, which leaves the position alone.
    bool claim_if_it_fits(reservation& r) noexcept {
      const position start = position_of(word_.load(at<site::claim_look>));
      if (!reached(base::room_end(), start + r.n)) return false;
      const uint64_t before = word_.fetch_add((uint64_t{r.n} << 32) + 1, at<site::claim_add>);
      r.start = start;
      r.owner = gathered_of(before) == 0;
      r.done_at = r.end();
      return true;
    }

    // What an owner's duty asks of its strategy.
    uint64_t close_word() noexcept { return word_.fetch_and(~uint64_t{0xffffffff}, at<site::gather_close>); }
    void close(duty& d, who&) noexcept { d.end = position_of(close_word()); }
    static constexpr uint32_t syncs_in(uint64_t) noexcept { return 0; }
    static constexpr void enter_for(uint64_t, who&) noexcept {}
    bool seal(duty& d, who& w) noexcept {
      ring().tell(d.start, d.end, w);
      return true;
    }
    bool go_on_in_group(duty& d, who&) noexcept {
      d.step = duty_step::none;
      return true;
    }
    bool give_up(position, uint32_t, who&) noexcept {
      reclaim_.abandon();
      return true;
    }
    static constexpr bool counts(const reservation& r) noexcept { return Reclaim::may_lag && r.waited; }
  };
};

}  // namespace cmdq::allocation

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/own_sync_wait.hpp>

namespace cmdq::allocation {

/// Space check and claim in one compare-exchange loop (Linux since 5.4). Claims only what fits. The published form has
/// software CONS in the claim word, whose moves fail others' claims; here it has a word of its own: a claim that fitted
/// an older CONS fits a younger one. Lock-free, not fair while there is space: retries grow with the number of CPUs.
/// Without space first come, first served.
struct cmpxchg_loop {
  static constexpr bool claims_before_space = false;
  static constexpr bool needs_range_ends = false;
  static constexpr bool spreads_valid_bits = false;
  static constexpr bool gathers_in_groups = false;
  static constexpr bool delegates = false;

  template <class Ring, class Sync, class Reclaim>
  class state : public own_sync_wait<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim> {
    using base = own_sync_wait<state, Ring, Sync, Reclaim>;
    using base::ring, base::word_, base::cons_, base::reclaim_, base::line_, base::position_of, base::gathered_of;

   public:
    using base::base;
    using typename base::who;

    /// Claims `n` commands and, unless unsynced, one entry more. Errors: timeout, device_fault; nothing is claimed
    /// then.
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, written, who& w, reservation& r) noexcept {
      const bool own_sync = what != intent::unsynced;
      r.n = n + (own_sync ? 1U : 0U);
      r.own_sync = own_sync;
      r.waited = what == intent::waited;
      if (!line_.empty() || !try_claim(r, w)) {
        reservation late = r;
        const status s = base::in_line(w, [&] { return try_claim(late, w); });
        if (s != status::ok) late = {};
        r = late;
        if (s != status::ok) return s;
      }
      r.done_at = r.end();
      return status::ok;
    }

    /// Makes the written entries valid and, as owner, tells the device.
    [[gnu::always_inline]] void publish(reservation& r, who& w) noexcept {
      if (r.own_sync) {
        base::put_own_sync(r, w);
        if (r.waited) reclaim_.enter(1, w.budget);
      }
      base::tell_as_owner(r, w);
    }

   private:
    friend class own_sync_wait<state, Ring, Sync, Reclaim>;
    friend class claims<state, Ring, Sync, Reclaim>;
    static constexpr uint32_t owned = 1;

    /// False: there is no space. Software CONS is looked at once per claim and not per attempt: it moves with every
    /// list that is done, and the time of an attempt decides how many fail. A word that others have left behind by now
    /// may lie before it: that attempt fails.
    [[gnu::always_inline]] bool try_claim(reservation& r, who& w) noexcept {
      position room_to = base::room_end();
      uint64_t seen = word_.load(at<site::claim_look>);
      for (;;) {
        const position end = position_of(seen) + r.n;
        if (!reached(room_to, end) && !reached(room_to = base::room_end(), end)) return false;  // [S]
        const uint64_t next = (seen & ~uint64_t{owned}) + (static_cast<uint64_t>(r.n) << 32) + owned;
        if (word_.compare_exchange(seen, next, at<site::claim_packed>)) break;
        w.stats.add(stats::event::claim_retry);
      }
      r.start = position_of(seen);
      r.owner = gathered_of(seen) == 0;
      return true;
    }

    /// Only the owner clears the bit, so subtracting it is clearing it.
    [[gnu::always_inline]] uint64_t close_word() noexcept {
      return word_.fetch_add(~uint64_t{0}, at<site::gather_close>);
    }
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
    /// Its caller has entered the lock already: whoever tells the device for it leaves the lock, too.
    static constexpr bool counts(const reservation& r) noexcept { return Reclaim::may_lag && r.waited; }
  };
};

}  // namespace cmdq::allocation

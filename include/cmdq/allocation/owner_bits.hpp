// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/claim_ahead.hpp>
#include <cmdq/allocation/own_sync_wait.hpp>

namespace cmdq::allocation {

/// One unconditional fetch-add claims; how many lists (and CMD_SYNCs) are gathered is counted beside the position, and
/// whoever saw no gathered list is the owner (proposed for Linux in 2020). Wait-free claim; space is checked after it.
struct owner_bits {
  static constexpr bool claims_before_space = true;
  static constexpr bool needs_range_ends = false;
  static constexpr bool spreads_valid_bits = false;
  static constexpr bool gathers_in_groups = false;

  template <class Ring, class Sync, class Reclaim>
  class state : public claim_ahead<Ring, Sync, Reclaim>,
                public own_sync_wait<state<Ring, Sync, Reclaim>, typename Ring::who> {
    using base = claim_ahead<Ring, Sync, Reclaim>;
    using base::ring_, base::sync_, base::word_, base::reclaim_, base::position_of;

   public:
    using base::base;
    using typename base::who;

    [[nodiscard]] position covered_from(position p) const noexcept { return p; }
    void advance(position to) noexcept { base::move_cons(to); }

    /// Claims. A list that nobody waits for is waited for all the same where the ring is too small to admit it.
    /// Errors: timeout (nothing claimed), device_fault.
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, written, who& w, reservation& r) noexcept {
      if (what != intent::waited) {
        const status s = base::admit(*this, what, w);
        if (s != status::ok) return s;
      }
      const bool own_sync = what != intent::unsynced;
      r.n = n + (own_sync ? 1U : 0U);
      r.own_sync = own_sync;
      r.waited = what == intent::waited;
      const uint64_t gathered = (r.waited ? one_sync : 0U) | one_list;
      const uint64_t before = word_.fetch_add((static_cast<uint64_t>(r.n) << 32) | gathered, at<site::claim_add>);
      r.start = position_of(before);
      r.done_at = r.end();
      r.owner = base::gathered_of(before) == 0;
      return base::own_space(*this, r.end(), w) ? status::ok : abandon(r, w);
    }

    /// Makes the written entries valid and, as owner, tells the device. Waits only for CPUs between claim and mark.
    [[gnu::always_inline]] void publish(const reservation& r, who& w) noexcept {
      if (r.own_sync) {
        ring_.entry(r.end() - 1).put(sync_.sync_for(r.end() - 1));
        w.stats.add(stats::event::sync_sent);
      }
      tell_as_owner(r, w);
    }

   private:
    friend class own_sync_wait<state, who>;
    // Syncs that are waited for: at most max_producers. Lists: fewer than the ring has entries.
    static constexpr uint32_t one_sync = 1;
    static constexpr uint32_t one_list = 1U << 13;
    static_assert(max_producers < one_list && (1U << max_log2_size) - 1 <= ~0U / one_list);
    static constexpr uint64_t position_bits = ~uint64_t{0} << 32;

    /// A sync leaves the lock only after its owner has entered it: a count below nobody would look like an exclusive
    /// holder, for whom a member of the same range may wait that the owner waits for. So with sync_locked a call may
    /// outlast its budget while others of its range are between claim and publication.
    [[gnu::noinline, gnu::cold]] void give_up(const reservation& r) noexcept {
      if constexpr (decltype(reclaim_)::may_lag) ring_.wait_told(r.end());
      reclaim_.abandon();
    }

    /// The device has failed under a claim: it is filled and the turn handed on, so that nobody waits for it.
    [[gnu::noinline, gnu::cold]] status abandon(reservation r, who& w) noexcept {
      base::fill(r.start, r.n);
      tell_as_owner(r, w);
      if (r.waited) give_up(r);
      return status::device_fault;
    }

    [[gnu::always_inline]] void tell_as_owner(const reservation& r, who& w) noexcept {
      ring_.mark_valid(r.start, r.end());
      if (!r.owner) return;
      ring_.take_turn(r.start);
      const uint64_t closed = word_.fetch_and(position_bits, at<site::gather_close>);
      const position end = position_of(closed);
      ring_.wait_valid(r.end(), end);  // its own are
      // For all syncs it gathered: a member that took the lock itself could keep out who frees its space (bug L13).
      const uint32_t syncs = base::gathered_of(closed) % one_list;
      if (syncs != 0) reclaim_.enter(syncs);
      ring_.tell(r.start, end, w);
    }
  };
};

}  // namespace cmdq::allocation

// SPDX-License-Identifier: BSL-1.0
#pragma once

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
  class state : public own_sync_wait<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim> {
    using base = own_sync_wait<state, Ring, Sync, Reclaim>;
    using base::ring_, base::word_, base::reclaim_, base::position_of, base::gathered_of;

   public:
    using base::base;
    using typename base::who;

    /// Claims. A list that nobody waits for is waited for all the same where the ring is too small to admit it.
    /// Errors: timeout, device_fault; nothing is inserted then (what is claimed is filled by whoever can).
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, written, who& w, reservation& r) noexcept {
      if (what != intent::waited) {
        const status s = base::admit(what, w);
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
      r.owner = gathered_of(before) == 0;
      if (base::has_room(r.end())) return status::ok;
      const room found = base::await_room(r.end(), w);
      if (found == room::free) return status::ok;
      r.left = late_room(r.start, r.n, r.owner, counts(r), w);
      return found == room::over ? status::timeout : status::device_fault;
    }

    /// Makes the written entries valid and, as owner, tells the device.
    [[gnu::always_inline]] void publish(reservation& r, who& w) noexcept {
      if (r.own_sync) base::put_own_sync(r, w);
      base::tell_as_owner(r, w);
    }

   private:
    friend class own_sync_wait<state, Ring, Sync, Reclaim>;
    friend class claims<state, Ring, Sync, Reclaim>;
    // Syncs that are waited for: at most max_producers. Lists: fewer than the ring has entries.
    static constexpr uint32_t one_sync = 1;
    static constexpr uint32_t one_list = 1U << 13;
    static_assert(max_producers < one_list && (1U << max_log2_size) - 1 <= ~0U / one_list);
    static constexpr uint64_t position_bits = ~uint64_t{0} << 32;

    [[gnu::noinline, gnu::cold]] bool late_room(position start, uint32_t n, bool owner, bool counted, who& w) noexcept {
      duty d{.step = duty_step::room,
             .owner = owner,
             .unwritten = true,
             .counted = counted,
             .start = start,
             .n = n,
             .end = start + n};
      return !base::do_duty(d, w);
    }

    [[gnu::always_inline]] uint64_t close_word() noexcept {
      return word_.fetch_and(position_bits, at<site::gather_close>);
    }
    void close(duty& d, who&) noexcept {
      const uint64_t closed = close_word();
      d.end = position_of(closed);
      d.syncs = syncs_in(closed);
    }
    static constexpr uint32_t syncs_in(uint64_t closed) noexcept { return gathered_of(closed) % one_list; }
    /// Enters the lock for all syncs it gathered: a member that took it itself could keep out who frees its space (bug
    /// L13).
    [[gnu::always_inline]] void enter_for(uint64_t closed, who& w) noexcept {
      if constexpr (Reclaim::may_lag)
        if (syncs_in(closed) != 0) reclaim_.enter(syncs_in(closed), w.budget);
    }
    bool seal(duty& d, who& w) noexcept {
      if (d.syncs != 0) reclaim_.enter(d.syncs, w.budget);
      ring_.tell(d.start, d.end, w);
      return true;
    }
    bool go_on_in_group(duty& d, who&) noexcept {
      d.step = duty_step::none;
      return true;
    }
    /// A sync leaves the lock only after its owner has entered it: a count below nobody would look like an exclusive
    /// holder.
    bool give_up(position start, uint32_t n, who& w) noexcept {
      if (!Reclaim::may_lag) return true;
      duty d{.step = duty_step::unlock, .counted = true, .start = start, .n = n};
      return base::do_duty(d, w);
    }
    static constexpr bool counts(const reservation& r) noexcept { return Reclaim::may_lag && r.waited; }
  };
};

}  // namespace cmdq::allocation

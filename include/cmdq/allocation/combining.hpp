// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/gathering.hpp>
#include <cmdq/allocation/ranges.hpp>

namespace cmdq::allocation {

/// One CMD_SYNC for all lists that gather behind an owner (none where nobody in the range waits). Members claim only
/// their commands and wait for software CONS, which here moves from range end to range end; the owner, if it waits at
/// all, waits for the device, and members look at that now and then. A range whose owner waits stays open while two
/// earlier ones with a CMD_SYNC are with the device, so that a slow device is given few, large ranges and a fast one is
/// kept busy. With options.groups, CPUs near each other gather their lists first and one of them claims for all.
/// Progress: wait-free claim; in groups blocking, members on their leader and a leader on the members of the claim
/// before. The owner's close is lock-free and fails at most once per list claimed meanwhile.
struct combining {
  static constexpr bool claims_before_space = true;
  static constexpr bool needs_range_ends = true;
  static constexpr bool spreads_valid_bits = true;
  static constexpr bool gathers_in_groups = true;

  template <class Ring, class Sync, class Reclaim>
  class state : public ranges<Ring, Sync, Reclaim> {
    using base = ranges<Ring, Sync, Reclaim>;
    using base::ring_, base::sync_, base::word_, base::cons_, base::own_sync_, base::position_of;

   public:
    using typename base::P;
    using typename base::who;

    state(Ring& ring, Sync& sync) noexcept : base(ring, sync), gathering_(ring) {}

    /// Claims `n` commands; `n` = 0 takes part in a range for the sake of its CMD_SYNC. Errors: timeout (nothing
    /// claimed), device_fault.
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, written how, who& w, reservation& r) noexcept {
      if (what != intent::waited) {
        const status s = base::admit(what, w);
        if (s != status::ok) return s;
      }
      r.waited = what == intent::waited;
      // A ticket without commands takes an entry of its own: what gathers in a range is bounded by its entries.
      const bool empty_ticket = what == intent::ticket && n == 0;
      const bool shares = how == written::at_once || (own_sync_ == 0 && !empty_ticket);
      const uint64_t gathered = (what != intent::unsynced && shares ? one_sync : 0U) | one_list;
      if (how == written::in_group && n != 0 && gathering_.in_use()) {
        reservation in_group = r;
        const status s = reserve_in_group(n, gathered, w, in_group);
        r = in_group;
        return s;
      }
      r.own_sync = !shares;
      r.n = n + (r.own_sync ? 1U : 0U);
      claim(r.n, gathered, r);
      // One entry more than the commands: the range's CMD_SYNC may be right behind.
      r.done_at = r.end() + (shares ? 1U : 0U);
      if (!base::has_space(r.done_at, w)) return abandon(r.start, r.n, r.owner, w);
      if (r.owner && how != written::by_user) r.closed = close_early(gathered, r);
      return status::ok;
    }

    /// Makes the written entries valid and, as owner, closes the range and tells the device.
    [[gnu::always_inline]] void publish(reservation& r, who& w) noexcept {
      if (r.own_sync) put_sync(r.end() - 1, w);
      if (r.closed) {
        tell_alone(r, w);
      } else if (r.group != reservation::none) {
        const reservation in_group = r;
        r.done_at = publish_in_group(in_group, w);
      } else {
        ring_.mark_valid(r.start, r.end());
        if (r.owner) r.done_at = tell_gathered(r.start, r.end(), r.waited, w);
      }
    }

    /// Waits until the range is done: the owner for the device, a member for software CONS or its leader's word.
    [[gnu::always_inline]] status complete(const reservation& r, who& w) noexcept {
      if (r.group != reservation::none) {
        const reservation in_group = r;
        return complete_in_group(in_group, w);
      }
      return r.owner ? await_device(r, w) : base::await_range(cons_, r.done_at, w);
    }

   private:
    // What is called with a reservation is called with a copy of it, so that a list outside of groups has its own in
    // registers.

    /// Claims in the ring: for the caller, or for its group.
    [[gnu::always_inline]] void claim(uint32_t n, uint64_t gathered, reservation& r) noexcept {
      const uint64_t before = word_.fetch_add((static_cast<uint64_t>(n) << 32) | gathered, at<site::claim_add>);
      r.start = position_of(before);
      r.owner = base::gathered_of(before) == 0;
    }

    [[gnu::noinline]] status reserve_in_group(uint32_t n, uint64_t gathered, who& w, reservation& r) noexcept {
      r.n = n;
      r.group = gathering_.mine();
      const uint64_t before = gathering_.join(r.group, n, gathered);
      const position local = position_of(before);
      if (base::gathered_of(before) != 0) {
        r.start = gathering_.place_of(r.group, local, n);
        r.done_at = r.end() + 1;
        return status::ok;
      }
      const uint64_t closed = gathering_.close(r.group, local);
      r.group_n = position_of(closed) - local;
      const bool synced = base::gathered_of(closed) >= one_sync;
      claim(r.group_n, (synced ? one_sync : 0U) | one_list, r);
      r.done_at = r.end() + 1;
      const bool free = base::has_space(r.start + r.group_n + 1, w);
      renew_done(r, r.start + r.group_n + (synced ? 1U : 0U));
      gathering_.open(r.group, local, position_of(closed), r.start);  // on a failed device, too: nobody waits for ever
      if (free) return status::ok;
      base::fill(r.start, r.n);
      static_cast<void>(publish_in_group(r, w));
      return status::device_fault;
    }

    /// The word of a group whose CPUs were idle for 2^31 entries would look as if it were ahead: a leader moves it on
    /// before its members can see their places. Never back: it was read before software CONS, and has not changed.
    void renew_done(const reservation& r, position end) noexcept {
      if (!gathering_.look_due(r.group, r.start, end)) return;
      auto& done = gathering_.done(r.group);
      position seen = done.load(at<site::cons_retry>);
      if (r.start - seen <= 1U << 30) return;
      static_cast<void>(done.compare_exchange(seen, cons_.load(at<site::cons_look>), at<site::cons_advance>));
    }

    /// The device has failed under a claim: it is filled and the turn handed on, so that nobody waits for it.
    [[gnu::noinline, gnu::cold]] status abandon(position start, uint32_t n, bool owner, who& w) noexcept {
      base::fill(start, n);
      ring_.mark_valid(start, start + n);
      if (owner) static_cast<void>(tell_gathered(start, start + n, false, w));
      return status::device_fault;
    }

    /// Closes the range of an owner that nobody has joined, where it may be closed at once: before its entries are
    /// written, so that they and the CMD_SYNC are written together.
    [[gnu::always_inline]] bool close_early(uint64_t gathered, reservation& r) noexcept {
      if (!ring_.has_turn(r.start) || (r.waited && !may_close())) return false;
      uint64_t seen = (static_cast<uint64_t>(r.end()) << 32) | gathered;
      const position end = r.end() + (gathered >= one_sync ? 1U : 0U);
      if (!word_.compare_exchange(seen, static_cast<uint64_t>(end) << 32, at<site::gather_close>)) return false;
      r.done_at = end;
      return true;
    }

    [[gnu::always_inline]] void tell_alone(const reservation& r, who& w) noexcept {
      const bool synced = r.done_at != r.end();
      if (synced) put_sync(r.end(), w);
      ring_.mark_valid(r.start, r.done_at);
      tell(r.start, r.done_at, synced || r.own_sync, w);
    }

    /// The owner's part once its entries up to `known` are valid: closes the range and tells the device. Returns its
    /// end.
    [[gnu::noinline]] position tell_gathered(position start, position known, bool waited, who& w) noexcept {
      ring_.take_turn(start);
      if (waited) keep_open(w);
      return close(start, known, w);
    }

    /// Own entries, then those of the group, then the owner's part. Returns where the caller's list is done.
    [[gnu::noinline]] position publish_in_group(const reservation& r, who& w) noexcept {
      ring_.mark_valid(r.start, r.end());
      if (r.group_n == 0) return r.done_at;
      const position lists_end = r.start + r.group_n;
      ring_.wait_valid(r.end(), lists_end);
      gathering_.hand_over(r.group);
      return r.owner ? tell_gathered(r.start, lists_end, r.waited, w) : r.done_at;
    }

    /// `synced`: the range ends in a CMD_SYNC.
    [[gnu::always_inline]] void tell(position start, position end, bool synced, who& w) noexcept {
      ring_.range_end(start).store(end, at<site::range_end_store>);
      if (synced) {
        gate().store(last_synced().load(at<site::range_end_load>), at<site::range_end_store>);
        last_synced().store(end, at<site::range_end_store>);
      }
      ring_.tell(start, end, w);
    }

    /// Of the ranges that end in a CMD_SYNC: end of the last one told, and of the one before it. In turn only.
    [[nodiscard]] auto& last_synced() const noexcept { return ring_.note(0); }
    [[nodiscard]] auto& gate() const noexcept { return ring_.note(1); }
    [[nodiscard]] [[gnu::always_inline]] bool may_close() const noexcept {
      return reached(cons_.load(at<site::cons_done>), gate().load(at<site::range_end_load>));
    }

    /// Group commit: others may join while two earlier ranges with a CMD_SYNC are not done. Ends with the budget at the
    /// latest, so a standing device delays a list but keeps nothing back.
    void keep_open(who& w) noexcept {
      if (!may_close()) base::await_range(cons_, gate().load(at<site::range_end_load>), w);
    }

    /// Closes the range, makes all of it valid and tells the device; returns its end. Unless nobody in it wants to know
    /// that, or each list has its own, its CMD_SYNC is claimed in the same step. `known`: up to here it is valid.
    position close(position start, position known, who& w) noexcept {
      uint64_t seen = word_.load(at<site::claim_look>);
      bool synced = base::gathered_of(seen) >= one_sync;
      while (!word_.compare_exchange(seen, static_cast<uint64_t>(position_of(seen) + (synced ? 1U : 0U)) << 32,
                                     at<site::gather_close>)) {
        w.stats.add(stats::event::claim_retry);
        synced = base::gathered_of(seen) >= one_sync;
      }
      const position lists_end = position_of(seen);
      const position end = lists_end + (synced ? 1U : 0U);
      static_cast<void>(base::has_space(end, w));  // [S] for the CMD_SYNC's slot
      ring_.wait_valid(known, lists_end);
      if (synced) put_sync(lists_end, w);
      ring_.mark_valid(lists_end, end);
      tell(start, end, synced || own_sync_ != 0, w);
      return end;
    }

    /// The owner's wait. Its range is done: so are those before it.
    [[gnu::always_inline]] status await_device(const reservation& r, who& w) noexcept {
      const sighting seen = base::wait_for_sync(r.done_at - 1, w);
      if (seen.code != status::ok) return seen.code;
      base::forward(cons_, r.done_at);
      base::wake(r.start, r.done_at);  // a later owner may have moved it, but woke only its own members
      return status::ok;
    }

    /// Who has seen the group's lists done passes it on, and no more than that (see look_due): the leader all of its
    /// claim, a member its own, where the leader does not wait (a ticket).
    [[gnu::noinline]] status complete_in_group(const reservation& r, who& w) noexcept {
      auto& done = gathering_.done(r.group);
      position to = r.done_at;
      if (r.group_n == 0) {
        const status s = base::await_range(done, to, w);
        if (s != status::ok || reached(done.load(at<site::cons_done>), to)) return s;
      } else {
        const status s = r.owner ? await_device(r, w) : base::await_range(cons_, to, w);
        if (s != status::ok) return s;
        to = r.start + r.group_n + 1;  // waited for, so with a CMD_SYNC behind it
      }
      base::forward(done, to);
      base::wake(r.start, to);
      return status::ok;
    }

    void put_sync(position p, who& w) noexcept {
      ring_.entry(p).put(sync_.sync_for(p));
      w.stats.add(stats::event::sync_sent);
    }

    // Lists in a range: fewer than the ring has entries, and one without commands per producer. A list that wants to
    // know its end adds one_sync as well; as many that do not want it look the same, and are given a CMD_SYNC nobody
    // needs.
    static constexpr uint32_t one_list = 1;
    static constexpr uint32_t one_sync = 1U << 12;
    static_assert(((1ULL << max_log2_size) + max_producers) * (one_sync + one_list) < (1ULL << 32));

    gathering<Ring> gathering_;
  };
};

}  // namespace cmdq::allocation

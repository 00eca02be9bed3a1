// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/gathering.hpp>
#include <cmdq/allocation/ranges.hpp>

namespace cmdq::allocation {

/// One CMD_SYNC for all lists that gather behind an owner (none where nobody in the range waits). Members claim only
/// their commands and wait for software CONS, which here moves from range end to range end; the owner, if it waits at
/// all, waits for the device. A range whose owner waits stays open while two earlier ones with a CMD_SYNC are with the
/// device, so that a slow device is given few, large ranges and a fast one is kept busy. With options.groups, CPUs near
/// each other gather their lists first and one of them claims for all.
/// Progress: wait-free claim; in groups members wait for their leader and a leader for the members of the claim before,
/// within their budgets. The owner's close is lock-free and fails at most once per list claimed meanwhile.
struct combining {
  static constexpr bool claims_before_space = true;
  static constexpr bool needs_range_ends = true;
  static constexpr bool spreads_valid_bits = true;
  static constexpr bool gathers_in_groups = true;

  template <class Ring, class Sync, class Reclaim>
  class state : public ranges<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim> {
    using base = ranges<state, Ring, Sync, Reclaim>;
    using base::ring_, base::sync_, base::word_, base::cons_, base::own_sync_, base::position_of, base::gathered_of;

   public:
    using typename base::P;
    using typename base::who;

    state(Ring& ring, Sync& sync) noexcept : base(ring, sync), gathering_(ring) {}

    /// Claims `n` commands; `n` = 0 takes part in a range for the sake of its CMD_SYNC. Errors: timeout, device_fault;
    /// nothing is inserted then (what is claimed is filled by whoever can).
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
      const room found = base::has_space(r.done_at, w);
      if (found != room::free) {
        r.left = late_room(r.start, r.n, r.done_at, r.owner, w);
        return found == room::over ? status::timeout : status::device_fault;
      }
      if (r.owner && how != written::by_user) r.closed = close_early(gathered, r);
      return status::ok;
    }

    /// Makes the written entries valid and, as owner, closes the range and tells the device.
    [[gnu::always_inline]] void publish(reservation& r, who& w) noexcept {
      if (r.own_sync) put_sync(r.end() - 1, w);
      if (r.closed) {
        tell_alone(r, w);
      } else {
        ring_.mark_valid(r.start, r.end());
        if (r.owner || r.group_n != 0) {
          const told_range told = publish_for_others(r.start, r.n, r.owner, r.waited, r.group, r.group_n, w);
          if (told.left) r.owner = false;
          if (r.owner) r.done_at = told.end;
          r.left = told.left;
          return;
        }
      }
      if (ring_.anything_left()) base::help(w);
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
    friend class claims<state, Ring, Sync, Reclaim>;
    // What is called with a reservation is called with a copy of it, so that a list outside of groups has its own in
    // registers.

    /// Claims in the ring: for the caller, or for its group.
    template <class Claim>
    [[gnu::always_inline]] void claim(uint32_t n, uint64_t gathered, Claim& r) noexcept {
      const uint64_t before = word_.fetch_add((static_cast<uint64_t>(n) << 32) | gathered, at<site::claim_add>);
      r.start = position_of(before);
      r.owner = gathered_of(before) == 0;
    }

    /// The entries were not free in time, or never will be: what the caller claimed is filled, by whoever can. True:
    /// left to others.
    [[gnu::noinline, gnu::cold]] bool late_room(position start, uint32_t n, position end, bool owner, who& w) noexcept {
      duty d{.step = duty_step::room, .owner = owner, .unwritten = true, .start = start, .n = n, .end = end};
      return !base::do_duty(d, w);
    }

    [[gnu::noinline]] status reserve_in_group(uint32_t n, uint64_t gathered, who& w, reservation& r) noexcept {
      r.n = n;
      r.group = gathering_.mine();
      const uint64_t before = gathering_.join(r.group, n, gathered);
      duty d{.step = duty_step::place, .keeps = r.waited, .group = r.group, .n = n, .local = position_of(before)};
      if (gathered_of(before) == 0) d.step = duty_step::lead;
      if (!go_on_in_group(d, w) || (d.step == duty_step::open && !go_on_in_group(d, w))) {
        d.unwritten = true;
        base::leave_duty(d, w);
        r.left = true;
        return status::timeout;
      }
      r.start = d.start;
      r.owner = d.owner;
      r.group_n = d.group_n;
      r.done_at = r.end() + 1;
      if (d.step != duty_step::room) return status::ok;
      // The device has failed: nobody waits for ever.
      d.unwritten = true;
      d.step = duty_step::members;
      fill_own(d);
      r.left = !base::do_duty(d, w);
      return status::device_fault;
    }

    /// One step of a duty in a group; false when its budget ends first.
    bool go_on_in_group(duty& d, who& w) noexcept {
      switch (d.step) {
        case duty_step::place:
          if (!gathering_.await_place(d.group, d.local, d.n, w.budget)) return false;
          d.start = gathering_.place_of(d.group, d.local);
          d.step = duty_step::none;
          if (d.unwritten) fill_own(d);
          return true;
        case duty_step::lead: {
          if (!gathering_.await_turn(d.group, d.local, w.budget)) return false;
          const uint64_t closed = gathering_.close(d.group);
          d.group_n = position_of(closed) - d.local;
          d.synced = gathered_of(closed) >= one_sync;
          claim(d.group_n, (d.synced ? one_sync : 0U) | one_list, d);
          d.step = duty_step::open;
          return true;
        }
        case duty_step::open:
          return open_group(d, w);
        case duty_step::members:
          if (!ring_.await_valid(d.known, d.start + d.group_n, w)) return false;
          gathering_.hand_over(d.group);
          help_others(w);
          d.step = d.owner ? duty_step::turn : duty_step::none;
          return true;
        default:
          d.step = duty_step::none;
          return true;
      }
    }

    /// The caller writes its own entries next; `room` says that the device has failed.
    bool open_group(duty& d, who& w) noexcept {
      const position end = d.start + d.group_n;
      const room found = base::has_space(end + 1, w);
      if (found == room::over) return false;
      renew_done(d, end + (d.synced ? 1U : 0U));
      gathering_.open(d.group, d.local, d.local + d.group_n, d.start);
      help_others(w);
      d.known = d.start + d.n;
      d.step = duty_step::members;
      if (d.unwritten) {
        fill_own(d);
      } else if (found == room::failed) {
        d.step = duty_step::room;
      }
      return true;
    }
    /// [H] After a step that a duty which was left may be waiting for. Who helps already goes round again.
    void help_others(who& w) noexcept {
      if (ring_.anything_left() && !w.budget.none()) base::help(w);
    }
    void fill_own(const duty& d) noexcept {
      base::fill(d.start, d.n);
      ring_.mark_valid(d.start, d.start + d.n);
    }

    /// The word of a group whose CPUs were idle for 2^31 entries would look as if it were ahead: a leader moves it on
    /// before its members can see their places. Never back: it was read before software CONS, and has not changed.
    void renew_done(const duty& d, position end) noexcept {
      if (!gathering_.look_due(d.group, d.start, end)) return;
      auto& done = gathering_.done(d.group);
      position seen = done.load(at<site::cons_retry>);
      if (d.start - seen <= 1U << 30) return;
      static_cast<void>(done.compare_exchange(seen, cons_.load(at<site::cons_look>), at<site::cons_advance>));
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

    /// The rest of a leader's or an owner's duty, once its own entries are valid.
    struct told_range {
      position end = 0;
      bool left = false;  ///< others have to go on
    };
    [[gnu::noinline]] told_range publish_for_others(position start, uint32_t n, bool owner, bool keeps, uint8_t group,
                                                    uint32_t group_n, who& w) noexcept {
      duty d{.step = group_n != 0 ? duty_step::members : duty_step::turn,
             .owner = owner,
             .keeps = keeps,
             .group = group,
             .start = start,
             .n = n,
             .known = start + n,
             .group_n = group_n};
      const bool done = base::do_duty(d, w);
      return {d.end, !done};
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

    /// In turn. Group commit: others may join while two earlier ranges with a CMD_SYNC are not done. Ends with the
    /// budget at the latest, so a standing device delays a list but keeps nothing back. Unless nobody in the range
    /// wants to know its end, or each list has its own, its CMD_SYNC is claimed in the step that closes it.
    void close(duty& d, who& w) noexcept {
      if (d.keeps && !w.budget.none() && !may_close())
        static_cast<void>(base::await_range(cons_, gate().load(at<site::range_end_load>), w));
      uint64_t seen = word_.load(at<site::claim_look>);
      do {
        d.synced = gathered_of(seen) >= one_sync;
        d.end = position_of(seen);
        if (word_.compare_exchange(seen, static_cast<uint64_t>(d.end + (d.synced ? 1U : 0U)) << 32,
                                   at<site::gather_close>))
          return;
        w.stats.add(stats::event::claim_retry);
      } while (true);
    }

    /// In turn, all lists valid: makes the range's CMD_SYNC valid and tells the device. False: its slot is not free
    /// yet.
    bool seal(duty& d, who& w) noexcept {
      if (d.synced) {
        if (base::has_space(d.end + 1, w) == room::over) return false;  // [S]
        put_sync(d.end, w);
        ring_.mark_valid(d.end, d.end + 1);
        ++d.end;
      }
      tell(d.start, d.end, d.synced || own_sync_ != 0, w);
      return true;
    }

    /// The owner's wait. Its range is done: so are those before it.
    [[gnu::always_inline]] status await_device(const reservation& r, who& w) noexcept {
      const sighting seen = base::wait_for_sync(r.start, r.done_at - 1, w);
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

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/mailboxes.hpp>
#include <cmdq/allocation/ranges.hpp>

namespace cmdq::allocation {

/// Nobody claims: a producer fills its mailbox, and one of the callers, the combiner, copies what the filled mailboxes
/// hold to the ring, puts one CMD_SYNC behind it for all who want to know its end, and tells the device. Everybody else
/// waits for its own mailbox, then for software CONS. Known as flat combining (Hendler, Incze, Shavit, Tzafrir, SPAA
/// 2010) and remote core locking (Lozi and others, ATC 2012).
///
/// The combiner's window lies between taking the claim word and letting it go: it reads the mailboxes of its batch and
/// writes their entries, at most half the ring or one list, one CMD_SYNC, one place per list, and PROD. It never waits
/// in it. For L lists of C commands in all, their mailboxes in one word, that is 19 + 5 L + 4 C accesses, one of them
/// the write of PROD. Who finds nobody combining and no list waiting puts its own list into the ring: 13 + 2 C.
///
/// Progress: lock-free but for that window. A thread that is stopped anywhere else costs nobody more than the time of
/// one look (look_period_ns): its mailbox is not filled yet, or whoever combines empties it. While one is stopped in
/// the window, calls whose lists it has not taken take them back when their budgets end, and nothing of theirs was
/// inserted; the others' are inserted once it goes on, and owed until then. If it never does, the queue has to be made
/// anew: see command_queue::retire().
struct delegated {
  static constexpr bool claims_before_space = false;
  static constexpr bool needs_range_ends = true;
  static constexpr bool spreads_valid_bits = false;
  static constexpr bool gathers_in_groups = false;
  static constexpr bool delegates = true;

  template <class Ring, class Sync, class Reclaim>
  class state : public ranges<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim> {
    using base = ranges<state, Ring, Sync, Reclaim>;
    using base::ring, base::sync, base::word_, base::cons_, base::own_sync_, base::position_of, base::gathered_of;

   public:
    using typename base::P;
    using typename base::who;

    explicit state(Ring& r) noexcept : base(r), boxes_(r) {}

    /// Command `k` of the caller's next list, into its mailbox.
    void put(const producer_cell<P>& cell, uint32_t k, const typename Ring::command& c) noexcept {
      boxes_.put(ring().number_of(cell), k, c);
    }

    /// Where nobody combines and nobody's list waits, the caller may put its own list into the ring: true, and the
    /// window is open until publish(). Never waits.
    [[gnu::always_inline]] bool take_turn(uint32_t n, intent what, reservation& r) noexcept {
      uint64_t seen = word_.load(at<site::combiner_look>);
      const position start = position_of(seen);
      const bool synced = what != intent::unsynced;
      if (gathered_of(seen) != 0 || boxes_.any() || !base::has_room(start + n + 1)) return false;  // [S]
      if ((what == intent::waited && !base::may_close()) || n == 0) return false;
      if (!word_.compare_exchange(seen, seen | combining_now, at<site::combiner_take>)) return false;
      r.start = r.range = start;
      r.own_sync = synced && own_sync_ != 0;
      r.n = n + (r.own_sync ? 1U : 0U);
      r.done_at = start + n + (synced ? 1U : 0U);
      r.waited = r.owner = what == intent::waited;
      r.closed = true;
      return true;
    }
    /// The list is written: its CMD_SYNC, and the device is told.
    [[gnu::always_inline]] void publish(const reservation& r, who& w) noexcept {
      const bool synced = r.own_sync || r.done_at != r.end();
      if (synced) base::put_sync(r.done_at - 1, w);
      base::tell(r.start, r.done_at, synced, w);
      let_go(r.done_at);
    }

    /// Hands in the `n` commands that were put, and waits until they are in the ring. Not ok (timeout, device_fault):
    /// nothing was inserted. ok with r.left: a combiner has the list, and is late; it is owed.
    status hand_in(uint32_t n, intent what, who& w, reservation& r) noexcept {
      const uint32_t mine = ring().number_of(*w.cell);
      const bool leads = boxes_.fill(mine, {n, what}) || what != intent::waited;
      if (leads && (what != intent::waited || base::may_close())) serve(w);
      r = {.n = n, .waited = what == intent::waited};
      if (boxes_.placed(mine) == 0) {
        const status s = await_placed(mine, leads, what, w);
        if (s != status::ok && boxes_.take_back(mine)) {
          r = {};
          return s;
        }
        r.left = boxes_.placed(mine) == 0;
      }
      if (r.left) {
        w.cell->owes_unplaced.set(1 + behind(n, what));
      } else {
        find(mine, behind(n, what), r);
      }
      return status::ok;
    }

    /// Waits until the list's range is done: one of its callers for the device, the others for software CONS.
    status complete(const reservation& r, who& w) noexcept {
      if (!r.owner) return base::await_range(cons_, r.done_at, w, patience<Ring>::seldom);
      const sighting seen = base::wait_for_sync(r.range, r.done_at - 1, w);
      if (seen.code != status::ok) return seen.code;
      base::forward(cons_, r.done_at);
      base::wake(r.range, r.done_at);
      if (boxes_.any()) help(w);  // there is space again, and nobody may be leading those that did not fit
      return status::ok;
    }

    /// Is a mailbox filled? Cost: a load per word of mailboxes.
    [[nodiscard]] bool anything_left() const noexcept { return boxes_.any(); }
    /// Combines for others, if it is time. Bounded; never waits.
    void help(who& w) noexcept {
      if (base::may_close()) serve(w);
    }

    /// For a cell whose producer has ended inside a call: its list is taken out of its mailbox, unless it is placed.
    /// Under the claim word, so that no combiner has it, to place it later or to give it back. False: somebody
    /// combines.
    bool withdraw(const producer_cell<P>& cell) noexcept {
      uint64_t seen = word_.load(at<site::combiner_look>);
      if (gathered_of(seen) != 0) return false;
      if (!word_.compare_exchange(seen, seen | combining_now, at<site::combiner_take>)) return false;
      static_cast<void>(boxes_.take_back(ring().number_of(cell)));
      let_go(position_of(seen));
      return true;
    }

    /// Waits until the list that `cell` owes is placed; false when the budget ends first.
    bool await_left(const producer_cell<P>& cell, who& w) noexcept {
      if (cell.owes_unplaced.get() == 0) return true;
      const uint32_t mine = ring().number_of(cell);
      serve(w);
      return boxes_.placed(mine) != 0 || await_placed(mine, true, intent::ticket, w) == status::ok;
    }
    /// The list that `cell` owes is placed: where, so that its errors can be told.
    void place_owed(producer_cell<P>& cell) noexcept {
      reservation r;
      find(ring().number_of(cell), cell.owes_unplaced.get() - 1, r);
      cell.set(cell.waited, r.start, r.end());
      cell.owes.set(r.done_at);
      cell.owes_unplaced.set(0);
    }

   private:
    static constexpr uint32_t combining_now = 1;
    static constexpr unsigned most_rounds = 4;
    static constexpr uint32_t nobody = ~0U;

    /// What a combiner takes at a time: of each word's mailboxes those taken, in the order of looking. It begins with
    /// the mailbox whose list did not fit last time, so that each has its turn.
    struct batch {
      position start = 0;
      position end = 0;
      position done = 0;          ///< software CONS
      bool synced = false;        ///< somebody wants to know its end
      uint32_t watcher = nobody;  ///< mailbox of who is to watch the device
      uint32_t words = 0;         ///< looked at
      uint64_t taken[max_groups + 1];
    };

    /// Entries behind its last one that a list has to wait for: its range's CMD_SYNC may be the next.
    [[nodiscard]] uint32_t behind(uint32_t n, intent what) const noexcept {
      return what == intent::unsynced || n == 0 || own_sync_ != 0 ? 0 : 1;
    }

    /// Where a list was placed.
    void find(uint32_t mailbox, uint32_t behind, reservation& r) noexcept {
      const placement at = placement::of(boxes_.placed(mailbox));
      const watched range = boxes_.to_watch(mailbox);
      r.start = at.start;
      r.n = at.n;
      r.own_sync = own_sync_ != 0;
      r.owner = range.start != range.end;
      r.range = range.start;
      r.done_at = r.owner ? range.end : at.end() + behind;
    }

    /// Waits until the list in the mailbox is placed. Who leads combines as soon as it may; the others when it is time.
    /// Errors: timeout, device_fault.
    [[gnu::noinline, gnu::cold]] status await_placed(uint32_t mine, bool leads, intent what, who& w) noexcept {
      patience<Ring> waiting(ring(), w, patience<Ring>::seldom);
      const auto progress = [&] { return cons_.load(at<site::cons_look>); };
      const auto blocked = [&] { return boxes_.placed(mine) == 0; };
      const auto idle = [&] {
        w.stats.add(stats::event::space_wait);
        if (!leads) return waiting.next(progress, &boxes_.channel_of(mine), boxes_.placed_word(mine), blocked);
        if (is_combined()) return waiting.next(progress, &free_, &word_, [&] { return blocked() && is_combined(); });
        const position gate = base::gate().load(at<site::range_end_load>);
        const auto closed = [&] { return blocked() && !reached(cons_.load(at<site::cons_done>), gate); };
        return waiting.next(progress, closed() ? &ring().done_channel(gate) : nullptr, &cons_, closed);
      };
      for (;;) {
        const auto due = idle();
        if (leads && blocked() && (what != intent::waited || base::may_close())) serve(w);
        if (!blocked()) return status::ok;
        if (due == patience<Ring>::nothing) continue;
        const bool over = due == patience<Ring>::over;
        const sighting seen = over ? sync().last_look(*this, waiting, w) : sync().look(*this, w);
        waiting.saw(seen.cons);
        if (seen.code == status::ok) base::offer(seen.cons);
        if (what != intent::waited || base::may_close()) serve(w);
        if (!blocked()) return status::ok;
        if (seen.code != status::ok) return seen.code;
        if (over) return status::timeout;
      }
    }

    [[nodiscard]] bool is_combined() const noexcept { return gathered_of(word_.load(at<site::combiner_look>)) != 0; }

    /// Combines, and again while others have filled their mailboxes meanwhile, a few times.
    void serve(who& w) noexcept {
      for (unsigned k = 0; k < most_rounds && combine(w); ++k)
        if (!boxes_.any() || !base::may_close()) return;
    }

    /// [M] The window ends.
    [[gnu::always_inline]] void let_go(position end) noexcept {
      word_.store(static_cast<uint64_t>(end) << 32, at<site::combiner_let_go>);
      free_.wake();
    }

    /// One batch, unless somebody else is combining. False: nothing was placed.
    [[gnu::noinline]] bool combine(who& w) noexcept {
      uint64_t seen = word_.load(at<site::combiner_look>);
      if (gathered_of(seen) != 0) return false;
      [[maybe_unused]] typename P::critical_section in_here;
      if (!word_.compare_exchange(seen, seen | combining_now, at<site::combiner_take>)) return false;
      batch b;
      b.start = b.end = position_of(seen);
      const uint32_t first = first_.get();
      gather(b, first, w.cell == nullptr ? nobody : ring().number_of(*w.cell));
      if (b.end != b.start || b.synced) {
        if (b.synced && own_sync_ == 0) base::put_sync(b.end++, w);
        word_.store((static_cast<uint64_t>(b.end) << 32) | combining_now, at<site::combiner_move>);
        answer(b, first);
        base::tell(b.start, b.end, b.synced, w);
      }
      let_go(b.end);
      return b.end != b.start;
    }

    /// The mailboxes of `words() + 1` looks: the first word twice, its mailboxes before `first` last.
    [[nodiscard]] uint32_t word_at(uint32_t first, uint32_t look) const noexcept {
      const uint32_t w = boxes_.word_of(first) + look;
      return w < boxes_.words() ? w : w - boxes_.words();
    }
    [[nodiscard]] uint64_t mask_at(uint32_t first, uint32_t look) const noexcept {
      const uint64_t before = (uint64_t{1} << (first - boxes_.word_of(first) * boxes_.per_word())) - 1;
      return look == 0 ? ~before : look == boxes_.words() ? before : ~uint64_t{0};
    }
    /// Calls f(mailbox) for each bit of `bits`, until that is false; returns the bits that are left.
    template <class F>
    [[gnu::always_inline]] uint64_t for_each(uint32_t word, uint64_t bits, const F& f) const noexcept {
      for (; bits != 0; bits &= bits - 1)
        if (!f(word * boxes_.per_word() + static_cast<uint32_t>(__builtin_ctzll(bits)))) break;
      return bits;
    }

    /// Would a list of `n` commands fit behind `end`, with its CMD_SYNC or the batch's? Half the ring is enough for a
    /// batch, so that the device has something to do meanwhile.
    [[nodiscard]] bool fits(const batch& b, position end, uint32_t n) const noexcept {
      const uint32_t entries = ring().capacity();
      return end + n + 1 - b.done <= entries && (end == b.start || end + n + 1 - b.start <= entries / 2);
    }

    /// Takes lists and copies them to the ring, as far as there is space.
    void gather(batch& b, uint32_t first, uint32_t own) noexcept {
      b.done = cons_.load(at<site::cons_space>);  // [S]
      first_.set(0);
      for (uint32_t look = 0; look <= boxes_.words(); ++look) {
        const uint32_t word = word_at(first, look);
        const uint64_t filled = boxes_.filled(word) & mask_at(first, look);
        b.words = look + 1;
        b.taken[look] = 0;
        if (filled == 0) continue;
        for_each(word, filled, [&](uint32_t i) { return boxes_.prefetch(i), true; });
        // What does not fit stays its producer's. Lengths are guesses until the list is taken.
        position end = b.end;
        const uint64_t late = for_each(word, filled, [&](uint32_t i) {
          const uint32_t n = boxes_.request(i).n;
          if (!fits(b, end, n)) return first_.set(i), false;
          end += n + own_sync_;
          return true;
        });
        const uint64_t taken = boxes_.take(word, filled & ~late);
        const uint64_t longer = for_each(word, taken, [&](uint32_t i) {
          const asked a = boxes_.request(i);
          if (!fits(b, b.end, a.n)) return first_.set(i), false;
          add(b, i, a, own);
          return true;
        });
        b.taken[look] = taken & ~longer;
        if (longer != 0) boxes_.give_back(word, longer);
        if ((late | longer) != 0) return;
      }
    }

    [[gnu::always_inline]] void add(batch& b, uint32_t i, const asked& a, uint32_t own) noexcept {
      boxes_.copy_to_ring(i, a.n, b.end);
      b.end += a.n;
      if (a.what == intent::unsynced) return;
      b.synced = true;
      if (own_sync_ != 0) put_own_sync(b.end++);
      if (a.what == intent::waited && (b.watcher == nobody || i == own)) b.watcher = i;
    }
    [[gnu::noinline, gnu::cold]] void put_own_sync(position p) noexcept { ring().entry(p).put(sync().sync_for(p)); }

    /// Tells each where its list is.
    void answer(const batch& b, uint32_t first) noexcept {
      position next = b.start;
      for (uint32_t look = 0; look < b.words; ++look) {
        const uint32_t word = word_at(first, look);
        if (b.taken[look] == 0) continue;
        for_each(word, b.taken[look], [&](uint32_t i) {
          const asked a = boxes_.request(i);
          const uint32_t n = a.n + (a.what != intent::unsynced ? own_sync_ : 0U);
          placement p{.start = next, .n = n, .ticket = a.what == intent::ticket};
          if (n == 0) p.start = b.end - 1, p.n = 1;
          boxes_.answer(i, p, i == b.watcher ? watched{b.start, b.end} : watched{});
          next += n;
          return true;
        });
        boxes_.wake(word);
      }
    }

    mailboxes<Ring> boxes_;
    typename Ring::channel free_;                 ///< where who waits for the combiner's end sleeps
    typename P::template plain<uint32_t> first_;  ///< under the claim word: the mailbox to begin with
  };
};

}  // namespace cmdq::allocation

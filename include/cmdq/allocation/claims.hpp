// SPDX-License-Identifier: BSL-1.0
// What the strategies share: the claim word with software CONS beside it, space, and the duty of an owner, which
// anybody can go on with.
#pragma once

#include <cmdq/allocation/line.hpp>
#include <cmdq/allocation/reservation.hpp>
#include <cmdq/completion/sync_wait.hpp>

namespace cmdq::allocation {

/// How a wait for free entries ended. `failed`: the device cannot go on; by the bound below the entries are free.
enum class room : uint8_t { free, failed, over };

/// Claim word: position (32 bits, on top, so that its carry falls off: bug L12) | what is gathered (32 bits). Software
/// CONS has a word of its own: moving it fails nobody's claim.
///
/// Space, where claims come before it. Let C be options.producers and T the longest list with its CMD_SYNC. A producer
/// has at most one list in the ring that it waits for or owes, and software CONS is past every list that is neither; so
/// these take at most C x T entries and may be claimed blindly. A list that is not waited for is admitted only while
/// the ring holds at most N - 2 C T entries: C x T is left for such lists admitted at the same moment, C x T for the
/// others. Where N < 3 C T that could take for ever, and such lists are waited for instead (plan::asynchronous).
///
/// `Self` is the strategy. It has close(d): fixes the range of an owner in turn; seal(d, w): whatever comes before the
/// device is told, then tells it; go_on_in_group(d, w).
template <class Self, class Ring, class Sync, class Reclaim>
class claims {
 public:
  using P = typename Ring::P;
  using who = typename Ring::who;

  explicit claims(Ring& r) noexcept
      : admission_limit_(limit_for(r)),
        word_(uint64_t{r.opts().first} << 32),
        cons_(r.opts().first),
        seen_(r.opts().first),
        line_(r) {
    static_assert(lines_are_apart());
  }

  /// Software CONS. Cost: one load.
  template <site S>
  [[nodiscard]] position cons(at_site<S> s) const noexcept {
    return cons_.load(s);
  }
  /// Is software CONS still `known`? Cost: one load.
  template <site S>
  [[nodiscard]] bool cons_is(position known, at_site<S> s) const noexcept {
    return cons_.load(s) == known;
  }
  /// Up to here the device has been seen to be done: software CONS, or ahead of it where that may lag.
  template <site S>
  [[nodiscard]] position progress(at_site<S> s) const noexcept {
    if constexpr (Reclaim::may_lag) return seen_.load(s);
    return cons_.load(s);
  }
  [[nodiscard]] const void* progress_word() const noexcept {
    if constexpr (Reclaim::may_lag) return &seen_;
    return &cons_;
  }
  /// Software CONS, given progress that was just read.
  [[nodiscard]] position base_of(position progress) const noexcept {
    if constexpr (Reclaim::may_lag) return cons_.load(at<site::cons_look>);
    return progress;
  }
  [[nodiscard]] position claimed() const noexcept { return position_of(word_.load(at<site::claim_look>)); }

  /// The device was seen at `to`: whoever waits for that, or for space, learns it.
  void offer(position to) noexcept {
    note(to);
    reclaim_.offer(self(), to);
  }

  /// [S] Moves software CONS forward, never back, and wakes who waits for that. Lock-free.
  void advance(position to) noexcept {
    const position from = cons_.load(at<site::cons_retry>);
    if (distance(from, to) > 0 && forward(cons_, to)) wake(from, to);
  }

  /// Has somebody left what others may go on with?
  [[nodiscard]] bool anything_left() const noexcept { return ring().anything_left(); }
  /// Goes on with everything that others have left, as far as it can be. Never waits. `event`: see left_work::take().
  [[gnu::noinline, gnu::cold]] void help(who& w, bool event = false) noexcept {
    who helper{time_budget<P>(0), w.stats};
    for (bool more = true; more && ring().anything_left();) {
      more = false;
      for (uint32_t i = 0; i < ring().opts().producers; ++i)
        more = help_with(ring().cell(i).left, event, helper) || more;
      event = event || more;  // what was done may be what another duty waits for
    }
  }

  /// For a cell whose producer has ended inside a call: takes out what can still be taken out. True: from now on
  /// nothing of it is claimed any more. A claim cannot be taken back.
  static constexpr bool withdraw(const producer_cell<P>&) noexcept { return true; }

  /// Waits until somebody has finished what `cell`'s last call left; false when the budget ends first.
  bool await_left(const producer_cell<P>& cell, who& w) noexcept {
    const left_work<P>& left = cell.left;
    patience<Ring> waiting(ring(), w, patience<Ring>::often);
    while (left.any()) {
      help(w);
      if (!left.any()) break;
      const auto due =
          waiting.next([&] { return progress(at<site::cons_done>); }, nullptr, nullptr, [] { return true; });
      if (due != patience<Ring>::over) continue;
      help(w);
      return !left.any();
    }
    return true;
  }
  /// What `cell` owes, once what it left is finished: a claim whose entries do nothing.
  static void place_owed(producer_cell<P>& cell) noexcept {
    const duty left = cell.left.finished();
    cell.owes.set(left.start + left.n);
    cell.owes_unplaced.set(0);
  }

 protected:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  [[nodiscard]] Sync& sync() const noexcept { return part_before<Sync>(static_cast<const Self*>(this)); }
  [[nodiscard]] Ring& ring() const noexcept {
    return part_before<Ring>(static_cast<const Self*>(this), sizeof(Sync) + sizeof(error_handler<Ring>));
  }
  static constexpr position position_of(uint64_t word) noexcept { return static_cast<position>(word >> 32); }
  static constexpr uint32_t gathered_of(uint64_t word) noexcept { return static_cast<uint32_t>(word); }

  /// [S][C] Moves software CONS, or a copy of it, forward, never back. Lock-free. True if this call moved it.
  template <class Word>
  static bool forward(Word& word, position to) noexcept {
    position seen = word.load(at<site::cons_retry>);
    while (distance(seen, to) > 0)
      if (word.compare_exchange(seen, to, at<site::cons_advance>)) return true;
    return false;
  }

  void wake(position from, position to) noexcept {
    const uint32_t quads = (to - from + 3) / 4 + 1;
    for (uint32_t i = 0; i < quads && i < Ring::done_channels; ++i) ring().done_channel(from + 4 * i).wake();
  }

  /// Where software CONS may lag: what others wait for.
  void note(position to) noexcept {
    if constexpr (Reclaim::may_lag) {
      const position from = seen_.load(at<site::cons_retry>);
      if (distance(from, to) > 0 && forward(seen_, to)) wake(from, to);
    }
  }

  /// One look at the device for the sake of space.
  status make_space(who& w, patience<Ring>& waiting) noexcept {
    const sighting seen = sync().look(self(), w);
    waiting.saw(seen.cons);
    if (seen.code == status::ok) self().offer(seen.cons);
    return seen.code;
  }

  /// Lets a list that is not waited for be claimed, or makes it one that is. Errors: timeout, device_fault.
  status admit(intent& what, who& w) noexcept {
    if (admission_limit_ < 0) {
      what = intent::waited;
      return status::ok;
    }
    if (line_.empty() && admissible()) return status::ok;
    return in_line(w, [this] { return admissible(); });
  }
  [[nodiscard]] bool admissible() const noexcept {
    return distance(cons_.load(at<site::cons_look>), claimed()) <= admission_limit_;
  }

  /// Waits in line until `ready()`, which is asked in turn only. Errors, and then it has not been ready: timeout,
  /// device_fault.
  template <class Ready>
  [[gnu::noinline, gnu::cold]] status in_line(who& w, const Ready& ready) noexcept {
    const uint32_t place = line_.enter(*w.cell);
    const status s = await_turn_in_line(w, place, ready);
    if (s == status::ok || line_.is_turn(place)) {
      line_.leave(place);
    } else {
      line_.give_up(place, *w.cell);
    }
    return s;
  }

  template <class Ready>
  status await_turn_in_line(who& w, uint32_t place, const Ready& ready) noexcept {
    patience<Ring> waiting(ring(), w, patience<Ring>::often);
    const status first = make_space(w, waiting);
    if (first != status::ok) return first;
    for (;;) {
      const bool turn = line_.is_turn(place);
      if (turn && ready()) return status::ok;
      w.stats.add(stats::event::space_wait);
      const void* const polled = turn ? progress_word() : line_.word();
      const auto due =
          waiting.next([&] { return cons_.load(at<site::cons_look>); }, nullptr, polled, [] { return true; });
      if (due == patience<Ring>::nothing) continue;
      const status s = due == patience<Ring>::over ? sync().last_look(self(), waiting, w).code : make_space(w, waiting);
      if (s != status::ok) return s;
      if (ring().anything_left()) help(w);
      if (due == patience<Ring>::over) {
        static_cast<void>(make_space(w, waiting));
        return line_.is_turn(place) && ready() ? status::ok : status::timeout;
      }
    }
  }

  /// [S] Waits until the claimed entries up to `end` are free. Mostly they are, once the stores of other producers
  /// arrive; with sync_locked the waiting syncs may have to leave first.
  [[gnu::noinline, gnu::cold]] room await_room(position end, who& w) noexcept {
    if (has_room(end)) return room::free;
    patience<Ring> waiting(ring(), w, patience<Ring>::often);
    for (;;) {
      if (make_space(w, waiting) != status::ok) return room::failed;
      if (has_room(end)) return room::free;
      for (auto due = patience<Ring>::nothing; due != patience<Ring>::look;) {
        w.stats.add(stats::event::space_wait);
        due = waiting.next([&] { return cons_.load(at<site::cons_look>); }, nullptr, &cons_, [] { return true; });
        if (has_room(end)) return room::free;
        if (due == patience<Ring>::over)
          return make_space(w, waiting) != status::ok ? room::failed : has_room(end) ? room::free : room::over;
      }
      if (ring().anything_left()) help(w);
    }
  }
  [[nodiscard]] [[gnu::always_inline]] bool has_room(position end) const noexcept {
    return end - cons_.load(at<site::cons_space>) <= ring().capacity();
  }
  /// [S] Entries before this are free.
  [[nodiscard]] [[gnu::always_inline]] position room_end() const noexcept {
    return cons_.load(at<site::cons_space>) + ring().capacity();
  }

  /// Harmless commands in place of those of a call that has ended.
  void fill(position start, uint32_t n) noexcept {
    for (position p = start; p != start + n; ++p) ring().entry(p).put(Ring::family::harmless());
  }

  /// Goes on with a duty until it is done, or until it would have to wait for longer than the budget (false).
  bool go_on(duty& d, who& w) noexcept {
    while (d.step != duty_step::none) {
      switch (d.step) {
        case duty_step::room:
          if (await_room(d.end, w) == room::over) return false;
          fill(d.start, d.n);
          ring().mark_valid(d.start, d.start + d.n);
          d.known = d.start + d.n;
          d.step = d.owner ? duty_step::turn : after_told(d);
          break;
        case duty_step::turn:
          if (!ring().await_turn(d.start, w)) return false;
          self().close(d, w);
          d.step = duty_step::valid;
          break;
        case duty_step::valid:
          if (!ring().await_valid(d.known, d.end, w)) return false;
          d.step = duty_step::seal;
          break;
        case duty_step::seal:
          if (!self().seal(d, w)) return false;
          d.step = after_told(d);
          break;
        case duty_step::unlock:
          if (!ring().has_told(d.start + d.n)) return false;
          reclaim_.abandon();
          d.step = duty_step::none;
          break;
        default:
          if (!self().go_on_in_group(d, w)) return false;
      }
    }
    return true;
  }

  static constexpr duty_step after_told(const duty& d) noexcept {
    return d.counted ? duty_step::unlock : duty_step::none;
  }

  /// [H] The caller's budget is over: the rest of its duty is anybody's.
  [[gnu::noinline, gnu::cold]] void leave_duty(const duty& d, who& w) noexcept {
    ring().count_left(1);  // first, so that no duty is ever there uncounted
    w.cell->left.leave(d);
    help(w, true);  // the entries that it has just made valid may be what another duty waits for
  }

  /// Goes on, and leaves what cannot be done within the budget. True: done.
  [[gnu::noinline]] bool do_duty(duty& d, who& w) noexcept {
    if (go_on(d, w)) {
      if (ring().anything_left()) help(w, true);
      return true;
    }
    leave_duty(d, w);
    return false;
  }

  /// Entries that may be in the ring for a list to be admitted that is not waited for; negative: none may.
  const int32_t admission_limit_;
  alignas(64) typename Ring::template atomic<uint64_t> word_;
  alignas(64) typename Ring::template atomic<position> cons_;
  // A line each where there is a lock: it is taken and left with every list, and everybody looks at seen_.
  static constexpr unsigned apart = Reclaim::may_lag ? 64 : alignof(position);
  alignas(apart) typename Ring::template atomic<position> seen_;  ///< reclaim::sync_locked only
  alignas(Reclaim::may_lag ? 64 : 1) [[no_unique_address]] Reclaim reclaim_;
  line<Ring> line_;

 private:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no standard-layout class: GCC and Clang support it all the same
  /// What never changes, what claims write, what finished calls write, and the lock.
  static constexpr bool lines_are_apart() noexcept {
    constexpr uintptr_t word = __builtin_offsetof(claims, word_), cons = __builtin_offsetof(claims, cons_);
    constexpr uintptr_t seen = __builtin_offsetof(claims, seen_), waits = __builtin_offsetof(claims, line_);
    return on_lines_of_their_own(__builtin_offsetof(claims, admission_limit_), word) &&
           on_lines_of_their_own(word, cons) && (!Reclaim::may_lag || on_lines_of_their_own(cons, seen)) &&
           on_lines_of_their_own(seen, waits + alignof(line<Ring>) - 1);
  }
#pragma GCC diagnostic pop

  /// True: the duty is done, or a step of it.
  bool help_with(left_work<P>& left, bool event, who& w) noexcept {
    duty d;
    if (!left.take(d, event)) return false;
    const duty_step taken_at = d.step;
    do {
      if (go_on(d, w)) {
        left.finish(d);
        ring().count_left(~0U);
        return true;
      }
    } while (!left.put_back(d));
    return d.step != taken_at;
  }

  static constexpr int32_t limit_for(const Ring& r) noexcept {
    if (!is_asynchronous(r.opts())) return -1;
    const uint32_t reserve = 2 * r.opts().producers * longest_list(r.opts());
    return static_cast<int32_t>(r.capacity() - reserve);
  }
};

}  // namespace cmdq::allocation

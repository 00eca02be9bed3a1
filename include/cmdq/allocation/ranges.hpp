// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/claims.hpp>

namespace cmdq::allocation {

/// Software CONS that moves from range end to range end, and who waits for it: what is done here is a range, not a
/// list.
template <class Self, class Ring, class Sync, class Reclaim>
class ranges : public claims<Self, Ring, Sync, Reclaim> {
  using base = claims<Self, Ring, Sync, Reclaim>;

 public:
  using typename base::P;
  using typename base::who;

  explicit ranges(Ring& r) noexcept : base(r), own_sync_(r.opts().sync_every_batch ? 1U : 0U), space_(r.opts().first) {
    static_assert(!Reclaim::may_lag, "allocation::combining moves software CONS by ranges: use reclaim::counted");
  }

  /// Moves software CONS to the last range end before `to`, up to which the device is done and all MSIs have come,
  /// and wakes the members of what is done.
  void advance(position to) noexcept {
    position done = cons_.load(at<site::cons_look>);
    const position from = done;
    const position told = ring().told();  // read later: never behind `done`
    if (reached(to, told)) done = told;   // the end of a range, too
    while (distance(done, told) > 0) {
      const position end = ring().range_end(done).load(at<site::range_end_load>);
      if (!reached(to, end)) break;
      done = end;
    }
    if (done != from && base::forward(cons_, done)) base::wake(from, done);
  }

  void offer(position to) noexcept { advance(to); }

  /// Start of the range whose CMD_SYNC is at `p`; `p` where each list has its own.
  [[nodiscard]] position covered_from(position p) const noexcept {
    if (own_sync_ != 0) return p;
    position from = cons_.load(at<site::cons_look>);
    const position told = ring().limit();  // the device may be there before its owner has handed on the turn
    while (distance(from, told) > 0) {
      const position end = ring().range_end(from).load(at<site::range_end_load>);
      if (passed(end, p)) return from;
      from = end;
    }
    return p;
  }

  /// Asks for a list without waiting: ok, would_block or device_fault.
  status check(position, position done_at, who& w) noexcept {
    if (reached(cons_.load(at<site::cons_done>), done_at)) return status::ok;
    const sighting seen = sync().look(base::self(), w);
    advance(seen.cons);
    if (reached(cons_.load(at<site::cons_done>), done_at)) return status::ok;
    return seen.code == status::ok ? status::would_block : seen.code;
  }

  /// Waits for a list that nobody waited for so far, within the budget.
  status await_list(position, position done_at, who& w) noexcept { return await_range(cons_, done_at, w); }

 protected:
  using base::ring, base::sync, base::word_, base::cons_;

  void put_sync(position p, who& w) noexcept {
    ring().entry(p).put(sync().sync_for(p));
    w.stats.add(stats::event::sync_sent);
  }

  /// In turn. `synced`: the range ends in a CMD_SYNC.
  [[gnu::always_inline]] void tell(position start, position end, bool synced, who& w) noexcept {
    ring().range_end(start).store(end, at<site::range_end_store>);
    if (synced) {
      gate().store(last_synced().load(at<site::range_end_load>), at<site::range_end_store>);
      last_synced().store(end, at<site::range_end_store>);
    }
    ring().tell(start, end, w);
  }

  /// Of the ranges that end in a CMD_SYNC: end of the last one told, and of the one before it. In turn only.
  [[nodiscard]] auto& last_synced() const noexcept { return ring().note(0); }
  [[nodiscard]] auto& gate() const noexcept { return ring().note(1); }
  /// Group commit: are fewer than two ranges with a CMD_SYNC with the device?
  [[nodiscard]] [[gnu::always_inline]] bool may_close() const noexcept {
    return reached(cons_.load(at<site::cons_done>), gate().load(at<site::range_end_load>));
  }

  [[gnu::always_inline]] sighting wait_for_sync(position from, position p, who& w) noexcept {
    return sync().wait(base::self(), from, p, w);
  }

  /// [S] Waits until the claimed entries up to `end` are free. Cost: mostly one load of a word that changes once a lap,
  /// in a ring that is nearly full more often.
  [[gnu::always_inline]] room has_space(position end, who& w) noexcept {
    return end - space_.load(at<site::cons_space>) <= ring().capacity() ? room::free : renew_space(end, w);
  }
  [[gnu::noinline]] room renew_space(position end, who& w) noexcept {
    const room found = base::await_room(end, w);
    if (found == room::free) base::forward(space_, cons_.load(at<site::cons_space>));
    return found;
  }

  /// Waits until `word`, software CONS or a group's copy, reaches `end`. When nothing happens for long one of those who
  /// wait looks at the device: for its errors, and because an owner need not wait for its own range (a ticket) or may
  /// be off its processor.
  template <class Word>
  [[gnu::noinline, gnu::cold]] status await_range(Word& word, position end, who& w,
                                                  typename patience<Ring>::pace pace = patience<Ring>::usual) noexcept {
    patience<Ring> waiting(ring(), w, pace);
    const auto progress = [&] { return cons_.load(at<site::cons_look>); };
    const auto blocked = [&] { return !reached(word.load(at<site::cons_done>), end); };
    while (blocked()) {
      w.stats.add(stats::event::sync_wait);
      const auto due = waiting.next(progress, &ring().done_channel(end), &word, blocked);
      if (due == patience<Ring>::nothing) continue;
      if (base::self().anything_left()) base::self().help(w);
      const bool over = due == patience<Ring>::over;
      const sighting seen = over ? sync().last_look(base::self(), waiting, w) : sync().look(base::self(), w);
      waiting.saw(seen.cons);
      advance(seen.cons);
      if (reached(cons_.load(at<site::cons_done>), end)) break;
      if (seen.code != status::ok) return seen.code;
      if (over) return status::timeout;
    }
    return status::ok;
  }

  /// 1 where each list ends in a CMD_SYNC of its own (options.sync_every_batch): the last one is the range's.
  alignas(64) const uint32_t own_sync_;

 private:
  /// [S] A copy of software CONS that lags by up to a lap, for the look at space: most claims find it unchanged.
  alignas(64) typename Ring::template atomic<position> space_;
};

}  // namespace cmdq::allocation

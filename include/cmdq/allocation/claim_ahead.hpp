// SPDX-License-Identifier: BSL-1.0
// What the strategies share that claim with one unconditional fetch-add: the claim word and software CONS beside it.
#pragma once

#include <cmdq/allocation/reservation.hpp>
#include <cmdq/completion/sync_wait.hpp>

namespace cmdq::allocation {

/// Claim word: position (32 bits, on top, so that its carry falls off: bug L12) | what is gathered (32 bits).
///
/// Space. Let C be options.producers and T the longest list with its CMD_SYNC. A producer that waits for its list has
/// at most that one in the ring, and software CONS is past every list whose caller has returned; so waited-for lists
/// take at most C x T entries and may be claimed blindly. A list that is not waited for is admitted only while the ring
/// holds at most N - 2 C T entries: C x T is left for such lists admitted at the same moment, C x T for the waited-for
/// ones. Where N < 2 C T such lists are waited for instead.
template <class Ring, class Sync, class Reclaim>
class claim_ahead {
 public:
  using P = typename Ring::P;
  using who = typename Ring::who;

  claim_ahead(Ring& ring, Sync& sync) noexcept
      : ring_(ring),
        sync_(sync),
        admission_limit_(limit_for(ring)),
        word_(uint64_t{ring.opts().first} << 32),
        cons_(ring.opts().first) {}

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
  [[nodiscard]] position claimed() const noexcept { return position_of(word_.load(at<site::claim_look>)); }

 protected:
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
  bool move_cons(position to) noexcept { return forward(cons_, to); }

  /// Lets a list that is not waited for be claimed, or makes it one that is. Errors: timeout, device_fault.
  template <class Self>
  status admit(Self& self, intent& what, who& w) noexcept {
    if (admission_limit_ < 0) {
      what = intent::waited;
      return status::ok;
    }
    return admissible() ? status::ok : await_admission(self, w);
  }

  [[nodiscard]] bool admissible() const noexcept {
    return distance(cons_.load(at<site::cons_look>), claimed()) <= admission_limit_;
  }

  template <class Self>
  [[gnu::noinline, gnu::cold]] status await_admission(Self& self, who& w) noexcept {
    typename Ring::wait_policy::template waiter<P> waiting;
    while (!admissible()) {
      const status s = make_space(self, w);
      if (s != status::ok) return s;
      if (waiting.clock_due() && w.budget.expired()) return status::timeout;
      w.stats.add(stats::event::space_wait);
      w.stats.add(waiting.kind());
      waiting.idle_device(&cons_);
    }
    return status::ok;
  }

  /// [S] Waits until the claimed entries up to `end` are free. With reclaim::counted they always are, once the stores
  /// of other producers arrive; with sync_locked the waiting syncs may have to leave first, each within its own budget.
  /// There is no way back from a claim, so the caller's own budget does not end this wait. False: the device has
  /// failed.
  template <class Self>
  bool own_space(Self& self, position end, who& w) noexcept {
    if (end - cons_.load(at<site::cons_space>) <= ring_.shape().entries()) return true;
    return await_space(self, end, w);
  }

  template <class Self>
  [[gnu::noinline, gnu::cold]] bool await_space(Self& self, position end, who& w) noexcept {
    typename Ring::wait_policy::template waiter<P> waiting;
    while (end - cons_.load(at<site::cons_space>) > ring_.shape().entries()) {
      if (make_space(self, w) != status::ok) return false;
      if (waiting.clock_due()) static_cast<void>(w.budget.expired());  // the wait that follows has only what is left
      w.stats.add(stats::event::space_wait);
      w.stats.add(waiting.kind());
      waiting.idle_device(&cons_);
    }
    return true;
  }

  /// The device has failed under a claim that cannot be taken back: harmless commands take its place.
  void fill(position start, uint32_t n) noexcept {
    for (position p = start; p != start + n; ++p) ring_.entry(p).put(make_sync(sync_signal::none));
  }

  template <class Self>
  status make_space(Self& self, who& w) noexcept {
    const sighting seen = sync_.look(self, w);
    if (seen.code == status::ok) reclaim_.offer(self, seen.cons);
    return seen.code;
  }

  /// Entries that may be in the ring for a list to be admitted that is not waited for; negative: none may.
  static constexpr int32_t limit_for(const Ring& ring) noexcept {
    const int64_t reserve = 2 * static_cast<int64_t>(ring.opts().producers) * longest_list(ring.opts());
    const int64_t limit = static_cast<int64_t>(ring.shape().entries()) - reserve;
    return limit < 0 ? -1 : static_cast<int32_t>(limit);
  }

  Ring& ring_;
  Sync& sync_;
  const int32_t admission_limit_;
  alignas(64) typename Ring::template atomic<uint64_t> word_;
  alignas(64) typename Ring::template atomic<position> cons_;
  [[no_unique_address]] Reclaim reclaim_;
};

}  // namespace cmdq::allocation

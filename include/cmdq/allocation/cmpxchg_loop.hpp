// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/own_sync_wait.hpp>

namespace cmdq::allocation {

/// Position, whether somebody owns the range under way, and software CONS, all in one word (Linux since 5.4): space
/// check and claim are one compare-exchange. Each move of software CONS makes claims under way fail, and each look at
/// it queues behind them: for reclaim::sync_locked, which moves it seldom, and to reproduce published figures.
template <class Ring>
class claim_word_with_cons {
 public:
  using word_type = uint64_t;
  explicit claim_word_with_cons(position first) noexcept
      : word_((static_cast<uint64_t>(first) << cons_shift) | (static_cast<uint64_t>(first) << 1)) {}

  /// Software CONS. Cost: one load.
  template <site S>
  [[nodiscard]] position cons(at_site<S> s) const noexcept {
    return cons_of(word_.load(s));
  }
  template <site S>
  [[nodiscard]] bool cons_is(position known, at_site<S> s) const noexcept {
    return word_.load(s) >> cons_shift == (known & 0x7fffffffU);
  }
  static constexpr position position_of(word_type word) noexcept { return static_cast<position>(word >> 1); }

  /// [S] Moves software CONS forward to `to`, never back. Lock-free. Cost: one load and one compare-exchange.
  void advance(position to) noexcept {
    uint64_t seen = word_.load(at<site::cons_retry>);
    while (distance(cons_of(seen), to) > 0) {
      const uint64_t next = (seen & ~cons_bits) | (static_cast<uint64_t>(to) << cons_shift);
      if (word_.compare_exchange(seen, next, at<site::cons_advance>)) return;
    }
  }

 protected:
  /// The word after a claim of `n` entries.
  static constexpr word_type claim(word_type word, uint32_t n) noexcept {
    return (word & cons_bits) | (static_cast<uint64_t>(position_of(word) + n) << 1) | 1U;
  }
  /// Software CONS as known to a claim, across its attempts: here each attempt's word says it anew.
  struct known_cons {};
  [[nodiscard]] known_cons look() const noexcept { return {}; }
  /// Do `n` entries fit behind what `word` says is claimed?
  [[nodiscard]] bool fits(word_type word, uint32_t n, uint32_t entries, known_cons&) noexcept {
    return position_of(word) + n - cons_of(word) <= entries;
  }

 private:
  // Software CONS (31 bits) | position (32 bits) | owned (1 bit). CONS is on top, so that nothing carries into its
  // neighbours; the two positions are at most N apart, so 31 bits tell them apart.
  static constexpr unsigned cons_shift = 33;
  static constexpr uint64_t cons_bits = ~uint64_t{0} << cons_shift;
  static constexpr position cons_of(uint64_t word) noexcept {
    const position p = position_of(word);
    return p - ((p - static_cast<position>(word >> cons_shift)) & 0x7fffffffU);
  }

 protected:
  alignas(64) typename Ring::template atomic<word_type> word_;
};

/// Software CONS in a word of its own: moving it and looking at it leave the claim word alone. The space check reads a
/// copy that lags by up to a lap, so most claims find it unchanged. A claim that succeeds saw the position that the
/// check was made for, and software CONS only grows: what fitted then fits now.
template <class Ring>
class claim_word_beside_cons {
 public:
  using word_type = uint64_t;
  explicit claim_word_beside_cons(position first) noexcept
      : word_(static_cast<uint64_t>(first) << 1), cons_(first), space_(first) {}

  template <site S>
  [[nodiscard]] position cons(at_site<S> s) const noexcept {
    return cons_.load(s);
  }
  template <site S>
  [[nodiscard]] bool cons_is(position known, at_site<S> s) const noexcept {
    return cons_.load(s) == known;
  }
  static constexpr position position_of(word_type word) noexcept { return static_cast<position>(word >> 1); }

  void advance(position to) noexcept { forward(cons_, to); }

 protected:
  // Position, free-running to 63 bits so that it never comes back | owned (1 bit).
  static constexpr word_type claim(word_type word, uint32_t n) noexcept { return (word + (uint64_t{n} << 1)) | 1U; }
  /// Read once per claim and not per attempt: the time of an attempt decides how many of them fail.
  struct known_cons {
    position at_least;
  };
  [[nodiscard]] known_cons look() const noexcept { return {space_.load(at<site::cons_space>)}; }
  /// A word that others have left behind by now may lie before the copy: its compare-exchange will fail.
  [[nodiscard]] bool fits(word_type word, uint32_t n, uint32_t entries, known_cons& known) noexcept {
    const position end = position_of(word) + n;
    return before(known.at_least, end, entries) || renew(end, entries, known);
  }

 private:
  static constexpr bool before(position cons, position end, uint32_t entries) noexcept {
    return distance(cons, end) <= static_cast<int32_t>(entries);
  }
  [[nodiscard]] [[gnu::noinline]] bool renew(position end, uint32_t entries, known_cons& known) noexcept {
    known.at_least = cons_.load(at<site::cons_space>);
    if (!before(known.at_least, end, entries)) return false;
    forward(space_, known.at_least);
    return true;
  }
  static void forward(typename Ring::template atomic<position>& word, position to) noexcept {
    position seen = word.load(at<site::cons_retry>);
    while (distance(seen, to) > 0)
      if (word.compare_exchange(seen, to, at<site::cons_advance>)) return;
  }

 protected:
  alignas(64) typename Ring::template atomic<word_type> word_;

 private:
  alignas(64) typename Ring::template atomic<position> cons_;
  alignas(64) typename Ring::template atomic<position> space_;
};

template <class Ring, bool Together>
struct claim_word {
  using type = claim_word_beside_cons<Ring>;
};
template <class Ring>
struct claim_word<Ring, true> {
  using type = claim_word_with_cons<Ring>;
};

/// Claims by compare-exchange, and only what fits (Linux since 5.4). With reclaim::sync_locked as published, software
/// CONS in the claim word; else beside it. Lock-free, not fair: retries grow with the number of CPUs.
struct cmpxchg_loop {
  static constexpr bool claims_before_space = false;
  static constexpr bool needs_range_ends = false;
  static constexpr bool spreads_valid_bits = false;
  static constexpr bool gathers_in_groups = false;

  template <class Ring, class Sync, class Reclaim>
  class state : public claim_word<Ring, Reclaim::may_lag>::type,
                public own_sync_wait<state<Ring, Sync, Reclaim>, typename Ring::who> {
    using words = typename claim_word<Ring, Reclaim::may_lag>::type;
    using words::word_, words::fits, words::claim;

   public:
    using P = typename Ring::P;
    using who = typename Ring::who;
    using words::position_of;

    state(Ring& ring, Sync& sync) noexcept : words(ring.opts().first), ring_(ring), sync_(sync) {}

    [[nodiscard]] position covered_from(position p) const noexcept { return p; }
    [[nodiscard]] position claimed() const noexcept { return position_of(word_.load(at<site::claim_look>)); }

    /// Claims `n` commands and, unless unsynced, one entry more. Errors: timeout, device_fault; nothing is claimed
    /// then.
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, written, who& w, reservation& r) noexcept {
      const bool own_sync = what != intent::unsynced;
      r.n = n + (own_sync ? 1U : 0U);
      r.own_sync = own_sync;
      r.waited = what == intent::waited;
      auto known = words::look();
      uint64_t seen = word_.load(at<site::claim_look>);
      for (;;) {
        if (!fits(seen, r.n, ring_.shape().entries(), known)) {
          const status s = wait_for_space(r.n, w);
          if (s != status::ok) return s;
          seen = word_.load(at<site::claim_look>);
          continue;
        }
        if (word_.compare_exchange(seen, claim(seen, r.n), at<site::claim_packed>)) break;  // [S]
        w.stats.add(stats::event::claim_retry);
      }
      r.start = position_of(seen);
      r.done_at = r.end();
      r.owner = (seen & 1U) == 0;
      return status::ok;
    }

    /// Makes the written entries valid and, as owner, tells the device. Waits only for CPUs that are inside publish().
    [[gnu::always_inline]] void publish(const reservation& r, who& w) noexcept {
      if (r.own_sync) {
        ring_.entry(r.end() - 1).put(sync_.sync_for(r.end() - 1));
        w.stats.add(stats::event::sync_sent);
        if (r.waited) reclaim_.enter(1);
      }
      ring_.mark_valid(r.start, r.end());
      if (!r.owner) return;
      ring_.take_turn(r.start);
      // Only the owner clears the bit, so subtracting it is clearing it.
      const position end = position_of(word_.fetch_add(~uint64_t{0}, at<site::gather_close>));
      ring_.wait_valid(r.end(), end);  // its own are
      ring_.tell(r.start, end, w);
    }

   private:
    friend class own_sync_wait<state, who>;
    void give_up(const reservation&) noexcept { reclaim_.abandon(); }

    /// Waits for `n` free entries, not for "not full" (bug L07). Nothing is stored while the device stands still.
    [[gnu::noinline, gnu::cold]] status wait_for_space(uint32_t n, who& w) noexcept {
      typename Ring::wait_policy::template waiter<P> waiting;
      while (!fits_now(n)) {
        const sighting seen = sync_.look(*this, w);
        if (seen.code != status::ok) return seen.code;
        reclaim_.offer(*this, seen.cons);
        if (fits_now(n)) break;
        if (waiting.clock_due() && w.budget.expired()) return status::timeout;
        w.stats.add(stats::event::space_wait);
        w.stats.add(waiting.kind());
        waiting.idle_device(nullptr);
      }
      return status::ok;
    }

    [[nodiscard]] bool fits_now(uint32_t n) noexcept {
      auto known = words::look();
      return fits(word_.load(at<site::claim_look>), n, ring_.shape().entries(), known);
    }

    Ring& ring_;
    Sync& sync_;
    alignas(64) Reclaim reclaim_;
  };
};

}  // namespace cmdq::allocation

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/own_sync_wait.hpp>

namespace cmdq::allocation {

/// Space check and claim in one compare-exchange on a word that also holds software CONS (Linux since 5.4). Claims only
/// what fits. Lock-free, not fair: retries grow with the number of CPUs, and each move of software CONS causes more.
struct cmpxchg_loop {
  static constexpr bool claims_before_space = false;
  static constexpr bool needs_range_ends = false;
  static constexpr bool spreads_valid_bits = false;
  static constexpr bool gathers_in_groups = false;

  template <class Ring, class Sync, class Reclaim>
  class state : public own_sync_wait<state<Ring, Sync, Reclaim>, typename Ring::who> {
   public:
    using P = typename Ring::P;
    using who = typename Ring::who;

    state(Ring& ring, Sync& sync) noexcept
        : ring_(ring), sync_(sync), word_(pack(ring.opts().first, ring.opts().first)) {}

    /// Software CONS. Cost: one load.
    template <site S>
    [[nodiscard]] position cons(at_site<S> s) const noexcept {
      return cons_of(word_.load(s));
    }
    /// Is software CONS still `known`? Cost: one load.
    template <site S>
    [[nodiscard]] bool cons_is(position known, at_site<S> s) const noexcept {
      return word_.load(s) >> cons_shift == (known & 0x7fffffffU);
    }
    [[nodiscard]] position covered_from(position p) const noexcept { return p; }
    [[nodiscard]] position claimed() const noexcept { return position_of(word_.load(at<site::claim_look>)); }

    /// [S] Moves software CONS forward to `to`, never back. Lock-free. Cost: one load and one compare-exchange.
    void advance(position to) noexcept {
      uint64_t seen = word_.load(at<site::cons_retry>);
      while (distance(cons_of(seen), to) > 0) {
        const uint64_t next = (seen & ~(~uint64_t{0} << cons_shift)) | (static_cast<uint64_t>(to) << cons_shift);
        if (word_.compare_exchange(seen, next, at<site::cons_advance>)) return;
      }
    }

    /// Claims `n` commands and, unless unsynced, one entry more. Errors: timeout, device_fault; nothing is claimed
    /// then.
    [[gnu::always_inline]] status reserve(uint32_t n, intent what, written, who& w, reservation& r) noexcept {
      const bool own_sync = what != intent::unsynced;
      r.n = n + (own_sync ? 1U : 0U);
      r.own_sync = own_sync;
      r.waited = what == intent::waited;
      uint64_t seen = word_.load(at<site::claim_look>);
      for (;;) {
        if (!fits(seen, r.n)) {
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
      r.owner = (seen & owned) == 0;
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
    // Layout: software CONS (31 bits) | position (32 bits) | owned (1 bit). CONS is on top, so that nothing carries
    // into its neighbours; the two positions are at most N apart, so 31 bits tell them apart.
    static constexpr unsigned cons_shift = 33;
    static constexpr uint64_t owned = 1;

    static constexpr position position_of(uint64_t word) noexcept { return static_cast<position>(word >> 1); }
    static constexpr position cons_of(uint64_t word) noexcept {
      const position p = position_of(word);
      return p - ((p - static_cast<position>(word >> cons_shift)) & 0x7fffffffU);
    }
    static constexpr uint64_t pack(position cons, position p) noexcept {
      return (static_cast<uint64_t>(cons) << cons_shift) | (static_cast<uint64_t>(p) << 1);
    }
    static constexpr uint64_t claim(uint64_t word, uint32_t n) noexcept {
      const uint64_t cons = word & (~uint64_t{0} << cons_shift);
      return cons | (static_cast<uint64_t>(position_of(word) + n) << 1) | owned;
    }
    [[nodiscard]] bool fits(uint64_t word, uint32_t n) const noexcept {
      return position_of(word) + n - cons_of(word) <= ring_.shape().entries();
    }

    /// Waits for `n` free entries, not for "not full" (bug L07). Nothing is stored while the device stands still.
    [[gnu::noinline, gnu::cold]] status wait_for_space(uint32_t n, who& w) noexcept {
      typename Ring::wait_policy::template waiter<P> waiting;
      while (!fits(word_.load(at<site::claim_look>), n)) {
        const sighting seen = sync_.look(*this, w);
        if (seen.code != status::ok) return seen.code;
        reclaim_.offer(*this, seen.cons);
        if (fits(word_.load(at<site::claim_look>), n)) break;
        if (waiting.clock_due() && w.budget.expired()) return status::timeout;
        w.stats.add(stats::event::space_wait);
        w.stats.add(waiting.kind());
        waiting.idle_device(nullptr);
      }
      return status::ok;
    }

    Ring& ring_;
    Sync& sync_;
    alignas(64) typename Ring::template atomic<uint64_t> word_;
    alignas(64) Reclaim reclaim_;
  };
};

}  // namespace cmdq::allocation

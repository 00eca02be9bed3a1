// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/claims.hpp>

namespace cmdq::allocation {

/// What the strategies share whose lists end in a CMD_SYNC of their own: publishing, waiting for the CMD_SYNC, and
/// giving the space back. `Self` also has give_up(start, n, w), for a
/// list that is not done (false: the rest is left), and counts(r): does its owner enter the lock for it?
template <class Self, class Ring, class Sync, class Reclaim>
class own_sync_wait : public claims<Self, Ring, Sync, Reclaim> {
  using base = claims<Self, Ring, Sync, Reclaim>;

 protected:
  using base::ring_, base::sync_, base::reclaim_, base::word_, base::line_, base::position_of, base::gathered_of;

 public:
  using base::base;
  using typename base::who;

  [[nodiscard]] position covered_from(position p) const noexcept { return p; }

  /// Waits until the list's CMD_SYNC is done. Precondition: r.waited.
  [[gnu::always_inline]] status complete(reservation& r, who& w) noexcept {
    const sighting seen = sync_.wait(base::self(), r.start, r.end() - 1, w);
    if (seen.code == status::ok) base::note(seen.cons);
    if (Reclaim::may_lag && r.left) {
      // The duty that it left does the rest.
    } else if (seen.code == status::ok) {
      reclaim_.leave(base::self(), seen.cons);
    } else {
      r.left = !base::self().give_up(r.start, r.n, w);
    }
    return seen.code;
  }

  /// Asks for a list without waiting: ok, would_block or device_fault.
  status check(position, position done_at, who& w) noexcept {
    return offered(sync_.check(base::self(), done_at - 1, true, w));
  }

  /// Waits for a list [start, ...) that nobody waited for so far, within the budget.
  status await_list(position start, position done_at, who& w) noexcept {
    return offered(sync_.wait(base::self(), start, done_at - 1, w));
  }

 protected:
  [[gnu::always_inline]] void put_own_sync(const reservation& r, who& w) noexcept {
    ring_.entry(r.end() - 1).put(sync_.sync_for(r.end() - 1));
    w.stats.add(stats::event::sync_sent);
  }

  /// Makes the list valid and, as owner, tells the device.
  [[gnu::always_inline]] void tell_as_owner(reservation& r, who& w) noexcept {
    auto& ring = ring_;
    ring.mark_valid(r.start, r.end());
    if (r.owner && !tell_alone(r, w)) {
      r.left = true;
      r.owner = false;
      return;
    }
    if (ring.anything_left()) base::help(w);
  }

 private:
  /// In its turn, and with nobody in its range, an owner need not wait.
  [[gnu::always_inline]] bool tell_alone(const reservation& r, who& w) noexcept {
    auto& ring = ring_;
    if (!ring.has_turn(r.start)) return own(r.start, r.n, duty_step::turn, 0, Self::counts(r), w);
    const uint64_t closed = base::self().close_word();
    if (position_of(closed) != r.end()) return own(r.start, r.n, duty_step::valid, closed, Self::counts(r), w);
    base::self().enter_for(closed, w);
    ring.tell(r.start, r.end(), w);
    return true;
  }

  [[gnu::noinline]] bool own(position start, uint32_t n, duty_step step, uint64_t closed, bool counted,
                             who& w) noexcept {
    duty d{.step = step,
           .owner = true,
           .start = start,
           .n = n,
           .known = start + n,
           .end = position_of(closed),
           .syncs = Self::syncs_in(closed)};
    if (base::go_on(d, w)) return true;
    d.counted = counted;
    base::leave_duty(d, w);
    return false;
  }
  status offered(const sighting& seen) noexcept {
    if (seen.code == status::ok) base::self().offer(seen.cons);
    return seen.code;
  }
};

}  // namespace cmdq::allocation

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/ring.hpp>

namespace cmdq {

/// One wait for what the device does, directly or by what others learn of it. Says when its budget is over, and when it
/// is this waiter's turn to look at the device although somebody else should: one of all waiters, once in
/// look_period_ns, after that long without progress (the first in the ring is off its processor, a ticket that nobody
/// waits for, an error, a lost MSI). By time, not by a count of polls: a count makes every waiter look.
template <class Ring>
class patience {
 public:
  using P = typename Ring::P;
  using who = typename Ring::who;
  enum due : uint8_t { nothing, look, over };
  /// How long without progress before a look. `often`: who waits for space, which nobody else may be looking for.
  /// `seldom`: who learns of it by memory, and of whose range somebody is certain to look at the device or at an MSI.
  enum pace : uint8_t { often, usual, seldom };

  patience(Ring& ring, who& w, pace p = usual) noexcept
      : ring_(ring),
        who_(w),
        period_(p == usual   ? look_period_ns<P>
                : p == often ? look_period_ns<P> / 4
                             : look_period_ns<P> * 4) {}

  /// After a fruitless look at memory: lets time go by, then says what is due. `progress()` is software CONS or what
  /// stands for it; read once a period, since all who wait read that word. `channel`: where another CPU wakes the
  /// caller; null where only the device can change what is polled (at `line`).
  template <class Progress, class Blocked>
  due next(const Progress& progress, typename Ring::channel* channel, const void* line,
           const Blocked& blocked) noexcept {
    if (who_.budget.none()) return over;
    who_.stats.add(waiter_.kind());
    if (channel != nullptr) {
      time_budget<P> nap(nap_ns_ < left_ns_ ? nap_ns_ : left_ns_);
      if (waiter_.kind() == stats::event::park && nap_ns_ < longest_nap_ns) nap_ns_ *= 2;
      waiter_.idle(*channel, line, blocked, nap);
    } else {
      waiter_.idle_device(line);
    }
    return waiter_.clock_due() ? at_time(P::now_ns(), progress) : nothing;
  }

  /// The caller has looked, and the device is at `cons`: where it moves, but no range ends (an error in each command),
  /// the next look is not put off.
  void saw(position cons) noexcept {
    if (cons != saw_) nap_ns_ = first_nap_ns;
    saw_ = cons;
  }

  /// Did the device stand at `cons` for options.deadline_ns (less one look's period) with something to do? What it was
  /// told since the wait began says nothing: it may have come a moment ago, from an owner that was off its processor.
  [[nodiscard]] bool stood(position cons) const noexcept {
    const uint64_t deadline = ring_.opts().deadline_ns;
    return deadline != no_deadline && timed_ && static_cast<int64_t>(now_ - began_) >= 0 && now_ - began_ >= deadline &&
           told_known_ && cons == began_at_ && distance(cons, began_told_) > 0;
  }

 private:
  /// A sleeper is woken by who moves software CONS; it wakes by itself in case nobody does.
  static constexpr uint64_t first_nap_ns = 10'000;
  static constexpr uint64_t longest_nap_ns = 10'000'000;

  template <class Progress>
  [[gnu::noinline]] due at_time(uint64_t now, const Progress& progress) noexcept {
    if (!timed_) {
      timed_ = true;
      began_ = since_ = now;
      began_at_ = seen_ = progress();
      // Later if it can be: the word that carries the turn is better not read by all who wait.
      if (ring_.opts().deadline_ns <= period_) note_told();
    }
    now_ = now;
    if (who_.budget.expired_at(now)) return over;
    left_ns_ = who_.budget.left_at(now);
    const auto still = static_cast<int64_t>(now - since_);
    if (now != 0 && (still < 0 || static_cast<uint64_t>(still) < period_)) return nothing;
    since_ = now;
    if (!told_known_) note_told();
    const position p = progress();
    if (p != seen_) {
      seen_ = p;
      nap_ns_ = first_nap_ns;
      if (now != 0) return nothing;
    }
    return ring_.look_due(now, period_) ? look : nothing;
  }

  void note_told() noexcept {
    told_known_ = true;
    began_told_ = ring_.told();
  }

  Ring& ring_;
  who& who_;
  const uint64_t period_;
  typename Ring::wait_policy::template waiter<P> waiter_;
  uint64_t nap_ns_ = first_nap_ns;
  uint64_t left_ns_ = no_deadline;  ///< of the budget, when the clock was last looked at
  uint64_t began_ = 0;              ///< first look at the clock
  uint64_t since_ = 0;              ///< progress was last looked at
  uint64_t now_ = 0;
  position began_at_ = 0;    ///< progress then
  position began_told_ = 0;  ///< and what the device had been told, at most a look's period later
  position seen_ = 0;
  position saw_ = 0;  ///< the device, at the caller's last look
  bool timed_ = false;
  bool told_known_ = false;
};

}  // namespace cmdq

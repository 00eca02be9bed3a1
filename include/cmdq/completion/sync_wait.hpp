// SPDX-License-Identifier: BSL-1.0
// Waiting for a sync command, in whichever completion mode.
#pragma once

#include <cmdq/queue/errors.hpp>
#include <cmdq/queue/patience.hpp>

namespace cmdq {

template <class Ring, class Completion>
class alignas(64) sync_wait {
 public:
  using who = typename Ring::who;
  using P = typename Ring::P;
  using family = typename Ring::family;

  explicit sync_wait(Ring& r) noexcept {
    if constexpr (requires { completion_.start(r); }) completion_.start(r);
  }

  /// The sync command to be put at `p`.
  [[nodiscard]] auto sync_for(position p) const noexcept { return completion_.sync_for(ring(), p); }

  /// May completions in memory have taken software CONS past the register, and may some be still to come?
  [[nodiscard]] bool may_trail() const noexcept { return completion_.may_trail(); }
  [[nodiscard]] Completion& completion() noexcept { return completion_; }

  /// One look at the device: where it is, and its errors handled, also those that the consumer's register does not
  /// show. Never waits.
  template <class Allocation>
  sighting look(Allocation& allocation, who& w) noexcept {
    return look_from(allocation, allocation.cons(at<site::cons_look>), true, w);
  }

  /// The same from a software CONS just read; unless `all_errors`, they are asked for only when the register shows
  /// one that is not known.
  template <class Allocation>
  [[gnu::always_inline]] sighting look_from(Allocation& allocation, position base, bool all_errors, who& w) noexcept {
    uint32_t reg = 0;
    sighting seen = ring().look(allocation, base, completion_.may_trail(), w, reg);
    if (seen.code != status::ok || all_errors || family::shows_error(reg))
      seen.code = settle(allocation, seen.code, all_errors, family::error_code(reg), w);
    if (completion_.may_trail()) seen.cons = landed(base, seen.cons);
    return seen;
  }

  /// Where the register itself is, when `exact`: not held back by completions that are still to come. Errors are
  /// handled, too.
  template <class Allocation>
  [[gnu::noinline, gnu::cold]] sighting look_at_register(Allocation& allocation, who& w) noexcept {
    uint32_t reg = 0;
    sighting seen = ring().look(allocation, allocation.cons(at<site::cons_look>), completion_.may_trail(), w, reg);
    seen.code = settle(allocation, seen.code, true, family::error_code(reg), w);
    return seen;
  }

  /// True once memory shows that the sync command at `p` is done. Cost: one load.
  [[nodiscard]] bool word_done(position p) noexcept {
    if constexpr (sees_memory) return completion_.done(ring(), p);
    return false;
  }

  /// Is there a sync command at `p` whose completion in memory is still to come? The register may be past it; its entry
  /// must not be reused before, or the write would hit a later command. Not after a lost one: it will not come. Cost:
  /// one or two loads.
  [[nodiscard]] bool word_pending(position p) noexcept {
    if constexpr (sees_memory) return completion_.pending(ring(), p) && !errors().word_void(p);
    return false;
  }

  /// How far of [from, to) software CONS may go for the sake of completions that are still to come.
  [[nodiscard]] position landed(position from, position to) noexcept {
    while (distance(from, to) > 0 && !word_pending(from)) ++from;
    return from;
  }

  /// Is the sync command at `p` done? `ok` and how far software CONS may go, or `would_block`, or what is wrong with
  /// the device.
  template <class Allocation>
  [[gnu::always_inline]] sighting check(Allocation& allocation, position p, bool look_at_device, who& w,
                                        bool all_errors = true) noexcept {
    if (completion_.may_trail() && word_done(p)) {
      if (ring().was_told(p)) return {status::ok, false, false, p + 1};  // they come in order: the earlier ones have
      errors().fail();                                                   // done before it was told
      return {status::device_fault, false, false, p};
    }
    const position known = allocation.progress(at<site::cons_done>);  // [C]
    if (passed(known, p)) return {status::ok, false, false, known};
    if (!look_at_device) return {status::would_block, false, false, known};
    const sighting seen = look_from(allocation, allocation.base_of(known), all_errors, w);
    if (passed(seen.cons, p)) return {status::ok, false, false, seen.cons};  // whatever has happened since
    return {seen.code == status::ok ? status::would_block : seen.code, false, false, seen.cons};
  }

  /// Waits for the sync command at `p` of a list that starts at `from`. Ends by success, by the budget, or by a device
  /// that cannot go on. With poll_cons one look at the device, since lists that nobody waits for may be before it; then
  /// who is first in the ring looks, and the others read memory.
  template <class Allocation>
  [[gnu::always_inline]] sighting wait(Allocation& allocation, position from, position p, who& w) noexcept {
    const bool by_word = in_memory(p);
    const sighting seen = check(allocation, p, !by_word, w, false);
    return seen.code != status::would_block ? seen : wait_on(allocation, from, p, seen.cons, by_word, w);
  }

  /// The end of a wait that was in vain: one more look at the device, and whether it has stood still all the time.
  template <class Allocation>
  [[gnu::noinline, gnu::cold]] sighting last_look(Allocation& allocation, const patience<Ring>& waited,
                                                  who& w) noexcept {
    const position base = allocation.cons(at<site::cons_look>);
    sighting seen = look_at_register(allocation, w);
    if (seen.code == status::ok && seen.exact && waited.stood(seen.cons)) errors().stands(seen.cons);
    if (completion_.may_trail()) seen.cons = landed(base, seen.cons);
    return seen;
  }

 private:
  [[nodiscard]] Ring& ring() const noexcept { return part_before<Ring>(this, sizeof(error_handler<Ring>)); }
  [[nodiscard]] error_handler<Ring>& errors() const noexcept { return part_before<error_handler<Ring>>(this); }

  /// Does the policy look at memory at all?
  static constexpr bool sees_memory = requires(const Completion& c, Ring& r, position p) { c.done(r, p); };

  /// Will memory show that the sync command at `p` is done? Its form decides, not today's mode. An entry that is used
  /// again by now says anything; its command is done then, and every way of looking finds that.
  [[nodiscard]] bool in_memory(position p) noexcept {
    if constexpr (Completion::in_memory) return true;
    if constexpr (!sees_memory) return false;
    if (!completion_.may_trail()) return false;
    return either(completion_, ring(), p);
  }
  template <class C>
  static bool either(const C& c, Ring& ring, position p) noexcept {
    if constexpr (sees_memory) return c.pending(ring, p) || c.done(ring, p);
    return false;
  }

  [[nodiscard]] const void* word_of(position p) noexcept {
    if constexpr (sees_memory) return completion_.word(ring(), p);
    return nullptr;
  }

  template <class Allocation>
  [[gnu::noinline, gnu::cold]] sighting wait_on(Allocation& allocation, position from, position p, position known,
                                                bool by_word, who& w) noexcept {
    patience<Ring> waiting(ring(), w);
    allocation.offer(known);
    const auto progress = [&] { return allocation.progress(at<site::cons_done>); };
    const void* const word = by_word ? word_of(p) : nullptr;
    const auto blocked = [&] {
      return !passed(allocation.progress(at<site::cons_done>), p) && !(by_word && word_done(p));
    };
    for (;;) {
      known = allocation.progress(at<site::cons_done>);
      const bool first_in_ring = reached(known, from);
      const bool first = first_in_ring && !by_word;
      const void* const line = word != nullptr ? word : first ? nullptr : allocation.progress_word();
      const auto due = waiting.next(progress, first_in_ring ? nullptr : &ring().done_channel(p), line, blocked);
      w.stats.add(stats::event::sync_wait);
      if (due == patience<Ring>::over) {
        sighting seen = last_look(allocation, waiting, w);
        allocation.offer(seen.cons);
        if (passed(seen.cons, p) || (by_word && word_done(p) && ring().was_told(p)))
          return {status::ok, false, false, p + 1};
        if (seen.code == status::ok) seen.code = status::timeout;
        return seen;
      }
      const bool timed = due == patience<Ring>::look;
      if (timed && allocation.anything_left()) allocation.help(w);
      const sighting seen = check(allocation, p, first || timed, w, timed);
      if (seen.code != status::would_block) return seen;
      if (!first && !timed) continue;
      waiting.saw(seen.cons);
      allocation.offer(seen.cons);
    }
  }

  /// What follows a look that found an error, or that was to look for all of them.
  template <class Allocation>
  [[gnu::noinline, gnu::cold]] status settle(Allocation& allocation, status s, bool all_errors, uint32_t shown,
                                             who& w) noexcept {
    if (s == status::ok && !all_errors && errors().is_settled(shown)) return s;
    if (s == status::ok) return errors().handle(allocation, completion_.may_trail(), shown, w).code;
    errors().fail();
    return s;
  }

  [[no_unique_address]] Completion completion_;
};

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// What a queue asks of an allocation strategy's `state`, checked by name, so that what is missing is said in words.
// Deriving from own_sync_wait (each list has a CMD_SYNC of its own) or from claims gives all of it but reserve(),
// publish() and, with claims, the ways to wait.
#pragma once

#include <cmdq/allocation/reservation.hpp>
#include <cmdq/queue/ring.hpp>

namespace cmdq::allocation {

/// `State` is A::state<Ring, Sync, Reclaim>. One static_assert per member; `ok` is true where it compiles.
template <class State, class Ring>
struct required {
  using who = typename Ring::who;
  using cell = producer_cell<typename Ring::P>;

  static_assert(
      requires(Ring & r) { State(r); },
      "allocation strategy: state has no constructor state(Ring&): it starts at options.first");
  static_assert(
      requires(State & s, who& w, reservation& r) {
        { s.reserve(1U, intent::waited, written::at_once, w, r) } -> cmdq::detail::same_as<status>;
      } ||
          requires(State & s, who& w, reservation& r) {
            { s.hand_in(1U, intent::waited, w, r) } -> cmdq::detail::same_as<status>;
          },
      "allocation strategy: state has no status reserve(uint32_t n, intent, written, who&, reservation&) noexcept: "
      "claims n entries and those for a CMD_SYNC, or nothing");
  static_assert(
      requires(State & s, who& w, reservation& r) { s.publish(r, w); },
      "allocation strategy: state has no void publish(reservation&, who&) noexcept: makes the list valid "
      "and sees to it that the device is told");
  static_assert(
      requires(State & s, who& w, reservation& r) {
        { s.complete(r, w) } -> cmdq::detail::same_as<status>;
      },
      "allocation strategy: state has no status complete(reservation&, who&) noexcept: waits for the list "
      "within w.budget");
  static_assert(
      requires(State & s, who& w) {
        { s.check(position{}, position{}, w) } -> cmdq::detail::same_as<status>;
      },
      "allocation strategy: state has no status check(position start, position done_at, who&) noexcept: "
      "ok or would_block, for poll()");
  static_assert(
      requires(State & s, who& w) {
        { s.await_list(position{}, position{}, w) } -> cmdq::detail::same_as<status>;
      },
      "allocation strategy: state has no status await_list(position start, position done_at, who&) noexcept, for "
      "wait() and for what a producer owes");
  static_assert(
      requires(const State& s) {
        { s.covered_from(position{}) } -> cmdq::detail::same_as<position>;
      },
      "allocation strategy: state has no position covered_from(position p) const noexcept: start of what "
      "the CMD_SYNC at p answers for");
  static_assert(
      requires(const State& s) {
        { s.cons(at<site::cons_look>) } -> cmdq::detail::same_as<position>;
        { s.cons_is(position{}, at<site::cons_look>) } -> cmdq::detail::same_as<bool>;
        { s.progress(at<site::cons_done>) } -> cmdq::detail::same_as<position>;
        { s.base_of(position{}) } -> cmdq::detail::same_as<position>;
        s.progress_word();
      },
      "allocation strategy: state has no software CONS: cons(site), cons_is(known, site), progress(site), "
      "base_of(progress), progress_word(); derive from allocation::claims");
  static_assert(
      requires(const State& s) {
        { s.claimed() } -> cmdq::detail::same_as<position>;
      },
      "allocation strategy: state has no position claimed() const noexcept: end of what is claimed");
  static_assert(
      requires(State & s) {
        s.offer(position{});
        s.advance(position{});
      },
      "allocation strategy: state has no void offer(position) and advance(position) noexcept: the device was "
      "seen there");
  static_assert(
      requires(State & s, const State& c, who& w, cell& of, const cell& has) {
        { c.anything_left() } -> cmdq::detail::same_as<bool>;
        s.help(w);
        { s.await_left(has, w) } -> cmdq::detail::same_as<bool>;
        s.place_owed(of);
        { s.withdraw(has) } -> cmdq::detail::same_as<bool>;
      },
      "allocation strategy: state has none of what calls leave when their budgets end: anything_left(), help(who&), "
      "await_left(cell, who&), place_owed(cell), withdraw(cell); derive from allocation::claims");
  static constexpr bool ok = true;
};

}  // namespace cmdq::allocation

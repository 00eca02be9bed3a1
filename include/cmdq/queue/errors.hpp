// SPDX-License-Identifier: BSL-1.0
// Device errors: found by whoever looks at the device, repaired by one caller at a time, told to the caller whose
// command it was. A mark per slot carries the full position, so it needs no clearing and cannot be taken for another
// lap's.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/queue/ring.hpp>

namespace cmdq {

/// Health word: bit 0 stalled (the device was seen to stand), bit 1 failed (it cannot go on), the count of errors
/// above.
namespace health {
inline constexpr uint32_t stalled = 1U << 0;
inline constexpr uint32_t failed = 1U << 1;
inline constexpr uint32_t one_error = 1U << 2;
}  // namespace health

/// What a family's error protocol may ask of the queue, while it is the only one that handles an error.
template <class Handler, class Allocation>
class error_host {
 public:
  using ring_type = typename Handler::ring_type;
  using command = typename ring_type::command;

  error_host(Handler& h, const Allocation& a, bool may_trail, typename ring_type::who& w) noexcept
      : handler_(h), allocation_(a), may_trail_(may_trail), w_(w) {}

  [[nodiscard]] auto& device() noexcept { return ring().device(); }
  /// Counts an error, for statistics.
  void count() noexcept { w_.stats.add(stats::event::error_handled); }
  /// May completions in memory have taken software CONS past the device's register?
  [[nodiscard]] bool may_trail() const noexcept { return may_trail_; }

  /// Where the device stands, and its consumer's register. It must not go on meanwhile. Errors: device_fault where that
  /// is no position that an error can have.
  status position_of_error(position& p, uint32_t& reg) noexcept {
    const status s = position_now(p, reg);
    return s != status::ok || ring().was_told(p) ? s : status::device_fault;
  }
  /// The same where it may have consumed all that it was told.
  status position_now(position& p, uint32_t& reg) noexcept {
    sighting seen;
    do {
      seen = ring().look(allocation_, allocation_.cons(at<site::cons_look>), may_trail_, w_, reg);
      if (seen.code != status::ok) return seen.code;
    } while (seen.moved);
    p = seen.cons;
    return seen.exact ? status::ok : status::device_fault;  // an error's position is never behind what is done
  }
  /// The entry of a command that is in the ring, and what replaces it.
  [[nodiscard]] command get(position p) noexcept { return ring().entry(p).get(); }
  void put(position p, const command& c) noexcept { ring().entry(p).put(c); }
  [[nodiscard]] uint64_t device_address(position p) noexcept { return ring().device_address(p); }
  /// Software CONS, and up to where the device was told.
  [[nodiscard]] position done() const noexcept { return allocation_.cons(at<site::cons_look>); }
  [[nodiscard]] position told() noexcept { return ring().limit(); }
  /// First position that the sync command at `p` answers for; `p` where it is its list's own.
  [[nodiscard]] position covered_from(position p) const noexcept { return allocation_.covered_from(p); }

  /// [X] Tells who waits for `p`. Before the device is let go on.
  void note(position p, fault f) noexcept { handler_.note(p, f); }
  /// What was told of the command at `p` already.
  [[nodiscard]] fault noted(position p) noexcept {
    return static_cast<fault>(error_within(ring().mark(p).load(at<site::mark_load>), p, p + 1));
  }
  /// One retry more of what failed at `p`; false once there were options.fetch_retries.
  [[nodiscard]] bool retry_again(position p) noexcept { return handler_.retry_again(p); }
  /// Completions in memory of what was told so far may never come: the register alone counts for them. Or only of what
  /// lies before `end`.
  void completions_lost() noexcept { completions_lost(ring().limit()); }
  void completions_lost(position end) noexcept { handler_.void_words(end); }
  /// Does a sync command at `p` show in its word that it is done?
  [[nodiscard]] bool word_done(position p) noexcept {
    if constexpr (ring_type::has_words) return static_cast<uint32_t>(ring().done_word(p).load(at<site::msi_poll>)) == p;
    return false;
  }
  /// For a device that goes on after an error when the producer's register is written.
  void tell_again() noexcept { ring().tell_again(); }

 private:
  [[nodiscard]] ring_type& ring() noexcept { return handler_.ring(); }

  Handler& handler_;
  const Allocation& allocation_;
  bool may_trail_;
  typename ring_type::who& w_;
};

template <class Ring>
class alignas(64) error_handler {
 public:
  using who = typename Ring::who;
  using P = typename Ring::P;
  using ring_type = Ring;
  using family = typename Ring::family;

  explicit error_handler(Ring& r) noexcept : void_(r.opts().first) { static_assert(lines_are_apart()); }

  /// At a call's start: what is wrong already, and how many errors there were.
  [[nodiscard]] uint32_t enter() const noexcept { return word_.load(at<site::health_enter>); }
  [[nodiscard]] static constexpr bool refuses(uint32_t entered) noexcept {
    return (entered & (health::stalled | health::failed)) != 0;
  }
  [[nodiscard]] bool has_failed() const noexcept { return (word_.load(at<site::health_enter>) & health::failed) != 0; }
  void fail() noexcept { word_.fetch_or(health::failed, at<site::health_stall>); }
  /// A waiter saw the device at `cons` for a whole deadline, with something to do.
  void stands(position cons) noexcept {
    stood_at_.store(cons, at<site::health_stall>);
    word_.fetch_or(health::stalled, at<site::health_stall>);
  }
  /// Is it still there? A device that has moved on is stalled no longer.
  [[nodiscard]] bool still_stands(position cons) noexcept {
    const bool stalled = (enter() & health::stalled) != 0;  // not after an error that kept it from going on
    if (stalled && stood_at_.load(at<site::health_enter>) == cons && distance(cons, ring().told()) > 0) return true;
    word_.fetch_and(~health::stalled, at<site::health_stall>);
    return false;
  }
  /// Only recover() calls this, once the device has caught up. False while another caller handles an error.
  [[nodiscard]] bool clear() noexcept {
    if (busy_.exchange(1, at<site::handler_lock>) != 0) return false;
    retries_.set(0);
    busy_.store(0, at<site::handler_unlock>);
    word_.fetch_and(~(health::stalled | health::failed), at<site::health_stall>);
    return true;
  }

  [[nodiscard]] bool any_since(uint32_t entered) const noexcept {
    return (word_.load(at<site::health_check>) ^ entered) >= health::one_error;
  }

  /// What went wrong with the list [from, to) that `cell` waited for, now that it is done. Exact, however late the
  /// caller looks. Cost: one load when there was no error since `entered`, else two.
  [[nodiscard]] status verdict(uint32_t entered, const producer_cell<P>& cell, position from,
                               position to) const noexcept {
    if (!any_since(entered)) return status::ok;
    return status_of(static_cast<fault>(error_within(cell.error.load(at<site::cell_verdict>), from, to)));
  }

  /// The same for the first `count` of the lists that were not waited for.
  [[nodiscard]] status verdict_unsynced(uint32_t entered, const producer_cell<P>& cell, uint32_t count) const noexcept {
    if (!any_since(entered)) return status::ok;
    const uint64_t error = cell.error.load(at<site::cell_verdict>);
    for (uint32_t i = 0; i < count; ++i)
      if (within(error, cell.unsynced[i].load(at<site::cell_look>))) return code_of(error);
    return status::ok;
  }

  /// The same for a ticket, by the marks in the ring. `expired` where an error of a later lap has replaced a mark, if
  /// there was any. Cost: one load per entry.
  [[nodiscard]] status verdict_by_marks(uint32_t entered, position from, position to) const noexcept {
    if (!any_since(entered)) return status::ok;
    bool replaced = false;
    for (position p = from; p != to; ++p) {
      const uint64_t mark = ring().mark(p).load(at<site::mark_load>);
      const uint32_t code = error_within(mark, p, p + 1);
      if (code != 0) return status_of(static_cast<fault>(code));
      replaced = replaced || error_within(mark, p, p + (1U << 31)) != 0;
    }
    return replaced ? status::expired : status::ok;
  }

  /// Handles what the device shows, unless another caller is at it. Bounded: at most one error per call.
  /// `allocation.covered_from(p)` is where the commands start whose completion the sync command at p answers for.
  /// `shown` is the error code of the consumer's register as the caller has seen it. device_fault once the device
  /// cannot go on.
  template <class Allocation>
  error_report handle(const Allocation& allocation, bool may_trail, uint32_t shown, who& w) noexcept {
    error_report report;
    report.code = status::device_fault;
    if (has_failed()) return report;
    report = {.again = true};
    if (busy_.exchange(1, at<site::handler_lock>) != 0) return report;
    // Who failed says so before the next one is let in: an error that stays active is handled once.
    report = has_failed() ? error_report{status::device_fault} : handle_locked(allocation, may_trail, w);
    if (report.code != status::ok) {
      fail();
    } else if (!report.again) {
      if (report.handled) word_.fetch_and(~health::stalled, at<site::health_stall>);
      if (!is_settled(shown)) settled_.store(shown, at<site::error_settled>);  // everybody reads that line
    }
    busy_.store(0, at<site::handler_unlock>);
    return report;
  }

  /// The same for recover(), also on a device that has failed: it may have been reset or mended since, so a fetch that
  /// aborts is tried again.
  template <class Allocation>
  error_report handle_again(const Allocation& allocation, bool may_trail, who& w) noexcept {
    if (busy_.exchange(1, at<site::handler_lock>) != 0) return {.again = true};
    retries_.set(0);
    settled_.store(0, at<site::error_settled>);
    const error_report report = handle_locked(allocation, may_trail, w);
    busy_.store(0, at<site::handler_unlock>);
    return report;
  }

  /// The code that the consumer's register shows may stay after the error is over: this one has been seen to. A new
  /// error with the same code is found by who asks for all errors because it is time.
  [[nodiscard]] bool is_settled(uint32_t shown) const noexcept {
    return shown == settled_.load(at<site::error_settled>);
  }

  /// Completions in memory of sync commands before `end` will not come.
  void void_words(position end) noexcept { void_.store(end, at<site::msi_void>); }

  /// The family's protocol: for what a family offers its driver besides.
  [[nodiscard]] auto& protocol() noexcept { return protocol_; }

  /// First error of a list whose producer is gone, once.
  [[nodiscard]] status abandoned() noexcept {
    for (uint32_t i = 0; i < ring().opts().producers; ++i) {
      auto& cell = ring().cell(i);
      const uint64_t error = cell.error.load(at<site::cell_verdict>);
      if (error == 0 || cell.taken.load(at<site::attach_look>) != 0) continue;
      cell.error.store(0, at<site::cell_error>);
      return code_of(error);
    }
    return status::ok;
  }

  /// Was a completion in memory lost that may have been that of the sync command at `p`? Then the register alone
  /// counts. Nothing in the ring is more than a lap behind it: later it says nothing, and must not seem to after 2^31
  /// entries.
  [[nodiscard]] bool word_void(position p) const noexcept {
    return void_.load(at<site::msi_void>) - (p + 1) < ring().shape().entries();
  }

 private:
  template <class Handler, class Allocation>
  friend class error_host;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no standard-layout class: GCC and Clang support it all the same
  /// What every call reads, and what handlers write.
  static constexpr bool lines_are_apart() noexcept {
    return on_lines_of_their_own(__builtin_offsetof(error_handler, void_), __builtin_offsetof(error_handler, busy_));
  }
#pragma GCC diagnostic pop

  [[nodiscard]] Ring& ring() const noexcept { return part_before<Ring>(this); }

  template <class Allocation>
  error_report handle_locked(const Allocation& allocation, bool may_trail, who& w) noexcept {
    error_host<error_handler, Allocation> host(*this, allocation, may_trail, w);
    return protocol_.handle(host);
  }

  [[nodiscard]] bool retry_again(position p) noexcept {
    const uint32_t before = p == retried_.get() ? retries_.get() : 0;
    retried_.set(p);
    retries_.set(before + 1);
    return before < ring().opts().fetch_retries;
  }

  static constexpr status code_of(uint64_t error) noexcept {
    return status_of(static_cast<fault>(static_cast<uint32_t>(error)));
  }

  /// [X] Before the device is let go on: a mark for tickets, and a word to the producer that waits for `p`.
  void note(position p, fault code) noexcept {
    const uint64_t packed = pack_error(p, static_cast<uint32_t>(code));
    ring().mark(p).store(packed, at<site::mark_store>);
    for (uint32_t i = 0; i < ring().opts().producers; ++i) {
      auto& cell = ring().cell(i);
      const uint64_t before = cell.error.load(at<site::cell_verdict>);
      const uint64_t handed_in = handed_in_by(i);  // before its cell: its producer puts it there later
      bool mine = holds(handed_in, p);
      bool told = !within(before, handed_in);
      const auto ask = [&](uint64_t list) {
        mine = mine || holds(list, p);
        told = told && !within(before, list);
      };
      ask(cell.waited.load(at<site::cell_look>));
      for (const auto& list : cell.unsynced) ask(list.load(at<site::cell_look>));
      if (mine && told) cell.error.store(packed, at<site::cell_error>);
    }
    word_.fetch_add(health::one_error, at<site::health_error>);
  }

  /// [X] allocation::delegated: the list that a combiner has put into the ring last; nothing otherwise.
  [[nodiscard]] uint64_t handed_in_by([[maybe_unused]] uint32_t i) const noexcept {
    if constexpr (Ring::delegates) {
      const uint32_t line = i * lines_per_mailbox(ring().opts().batch_limit, words_of<typename Ring::command>);
      const placement placed = placement::of(ring().mailbox(line).placed.load(at<site::placed_look>));
      if (!placed.ticket) return static_cast<uint64_t>(placed.start) << 32 | placed.end();
    }
    return 0;
  }

  static bool holds(uint64_t span, position p) noexcept {
    const auto to = static_cast<position>(span);
    return to - (p + 1) < to - static_cast<position>(span >> 32);
  }
  static bool within(uint64_t error, uint64_t span) noexcept {
    return error_within(error, static_cast<position>(span >> 32), static_cast<position>(span)) != 0;
  }

  typename P::template atomic<uint32_t> word_;              ///< read at every call, hardly ever written
  typename P::template atomic<position> stood_at_;          ///< where the device stands, while it is stalled
  typename P::template atomic<uint32_t> settled_;           ///< error code of the register that has been seen to
  typename P::template atomic<position> void_;              ///< completions in memory before this are not waited for
  alignas(64) typename P::template atomic<uint32_t> busy_;  ///< one handler at a time; what follows is under it
  typename P::template plain<position> retried_;            ///< position of the last retried error
  typename P::template plain<uint32_t> retries_;
  typename family::template errors<P> protocol_;
};

}  // namespace cmdq

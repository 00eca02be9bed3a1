// SPDX-License-Identifier: BSL-1.0
// Device errors: found by whoever looks at the device, repaired by one caller at a time, told to the caller whose
// command it was. A mark per slot carries the full position, so it needs no clearing and cannot be taken for another
// lap's.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/queue/acknowledge.hpp>
#include <cmdq/queue/ring.hpp>

namespace cmdq {

/// Health word: bit 0 stalled (the device was seen to stand), bit 1 failed (it cannot go on), the count of errors
/// above.
namespace health {
inline constexpr uint32_t stalled = 1U << 0;
inline constexpr uint32_t failed = 1U << 1;
inline constexpr uint32_t one_error = 1U << 2;
}  // namespace health

/// What a look at GERROR came to.
struct error_report {
  status code = status::ok;  ///< ok, or device_fault: the device cannot go on
  bool handled = false;      ///< an error of the command queue was repaired, or an aborted MSI noted
  bool again = false;        ///< another one waits, or somebody else is at it: look again
  uint32_t others = 0;       ///< active bits of GERROR that are not the queue's: the driver's to see to
  status left = status::ok;  ///< error of a list whose producer is gone, told once (illegal_command, ...)
};

/// The queue's own bits of GERROR. It acknowledges no others.
inline constexpr uint32_t own_errors = gerror::cmdq_err | gerror::msi_cmdq_abt;

template <class Ring>
class alignas(64) error_handler {
 public:
  using who = typename Ring::who;
  using P = typename Ring::P;

  explicit error_handler(Ring& r) noexcept : msi_void_(r.opts().first) { static_assert(lines_are_apart()); }

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
    return status_of(error_within(cell.error.load(at<site::cell_verdict>), from, to));
  }

  /// The same for the first `count` of the lists that were not waited for.
  [[nodiscard]] status verdict_unsynced(uint32_t entered, const producer_cell<P>& cell, uint32_t count) const noexcept {
    if (!any_since(entered)) return status::ok;
    const uint64_t error = cell.error.load(at<site::cell_verdict>);
    for (uint32_t i = 0; i < count; ++i)
      if (within(error, cell.unsynced[i].load(at<site::cell_look>))) return status_of(static_cast<uint32_t>(error));
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
      if (code != 0) return status_of(code);
      replaced = replaced || error_within(mark, p, p + (1U << 31)) != 0;
    }
    return replaced ? status::expired : status::ok;
  }

  /// Handles what GERROR shows, unless another caller is at it. Bounded: at most one error per call (SMMUv3 GERROR).
  /// `allocation.covered_from(p)` is where the commands start whose completion the CMD_SYNC at p answers for. `shown`
  /// is CONS.ERR as the caller has seen it. device_fault once the device cannot go on.
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
      settled_.store(shown, at<site::error_settled>);
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

  /// CONS.ERR keeps its code after the error is acknowledged, and is UNKNOWN while none is active: this one has been
  /// seen to. A new error with the same code is found by who looks at GERROR because it is time.
  [[nodiscard]] bool is_settled(uint32_t shown) const noexcept {
    return shown == settled_.load(at<site::error_settled>);
  }

  /// MSIs of CMD_SYNCs before `end` will not come.
  void void_msis(position end) noexcept { msi_void_.store(end, at<site::msi_void>); }

  /// For the driver's own bits; see command_queue::acknowledge().
  void acknowledge(uint32_t bits) noexcept { acknowledgement_.request(ring().device(), bits & ~own_errors); }

  /// First error of a list whose producer is gone, once.
  [[nodiscard]] status abandoned() noexcept {
    for (uint32_t i = 0; i < ring().opts().producers; ++i) {
      auto& cell = ring().cell(i);
      const uint64_t error = cell.error.load(at<site::cell_verdict>);
      if (error == 0 || cell.taken.load(at<site::attach_look>) != 0) continue;
      cell.error.store(0, at<site::cell_error>);
      return status_of(static_cast<uint32_t>(error));
    }
    return status::ok;
  }

  /// Was an MSI aborted (GERROR.MSI_CMDQ_ABT) that may have been that of the CMD_SYNC at `p`? Then CONS alone counts.
  /// Nothing in the ring is more than a lap behind it: later it says nothing, and must not seem to after 2^31 entries.
  [[nodiscard]] bool msi_void(position p) const noexcept {
    return msi_void_.load(at<site::msi_void>) - (p + 1) < ring().shape().entries();
  }

 private:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no standard-layout class: GCC and Clang support it all the same
  /// What every call reads, and what handlers write.
  static constexpr bool lines_are_apart() noexcept {
    return on_lines_of_their_own(__builtin_offsetof(error_handler, msi_void_),
                                 __builtin_offsetof(error_handler, busy_));
  }
#pragma GCC diagnostic pop

  [[nodiscard]] Ring& ring() const noexcept { return part_before<Ring>(this); }

  template <class Allocation>
  error_report handle_locked(const Allocation& allocation, bool may_trail, who& w) noexcept {
    auto& device = ring().device();
    const uint32_t now = device.read_gerror();
    const uint32_t seen = device.read_gerrorn();
    if (now == device_gone || seen == device_gone) return {status::device_fault};
    const uint32_t active = now ^ seen;
    error_report report{.others = active & ~own_errors};
    if ((active & gerror::sfm) != 0) report.code = status::device_fault;  // it has stopped for good
    if ((active & own_errors) != 0 && repaired_.get() == 0) w.stats.add(stats::event::error_handled);
    uint32_t mine = active & gerror::msi_cmdq_abt;
    if ((active & gerror::cmdq_err) == 0) {
      repaired_.set(0);
    } else {
      const status s = repaired_.get() != 0 ? status::ok : repair(allocation, may_trail, w);
      if (s == status::ok) {
        repaired_.set(1);
        mine |= gerror::cmdq_err;
      } else {
        report.code = s;
      }
    }
    if (mine == 0) return report;
    if (acknowledgement_.acknowledge(device, mine)) {
      if ((mine & gerror::cmdq_err) != 0) repaired_.set(0);
      if ((mine & gerror::msi_cmdq_abt) != 0)
        msi_void_.store(ring().limit(), at<site::msi_void>);  // read after the ack
      report.handled = true;
    } else {
      report.again = true;  // the driver is at the register: the next look acknowledges
    }
    return report;
  }

  /// A CMD_SYNC that its own MSI has zeroed: met again only after a reset of the device, and nobody's error.
  [[nodiscard]] bool was_done(position p) noexcept {
    const command c = ring().entry(p).get();
    return static_cast<uint32_t>(c.word[0]) == 0 && c.word[1] == ring().device_address(p);
  }

  /// Finds the erroneous position and makes it harmless. Consumption stands still until GERRORN is written.
  template <class Allocation>
  status repair(const Allocation& allocation, bool may_trail, who& w) noexcept {
    uint32_t reg = 0;
    sighting at_error;
    do {
      at_error = ring().look(allocation, allocation.cons(at<site::cons_look>), may_trail, w, reg);
      if (at_error.code != status::ok) return at_error.code;
    } while (at_error.moved);
    if (!at_error.exact) return status::device_fault;  // an error's position is never behind what is done
    const position p = at_error.cons;
    if (!ring().was_told(p)) return status::device_fault;
    switch (static_cast<cerror>(cons_error(reg))) {
      case cerror::ill:
        if (error_within(ring().mark(p).load(at<site::mark_load>), p, p + 1) == static_cast<uint32_t>(cerror::ill))
          return status::device_fault;  // it refuses even the replacement
        if (!may_trail || !was_done(p)) note(p, cerror::ill);
        // Every implementation accepts this one, also in place of a CMD_SYNC whose signal it refused: who waits for
        // that sees CONS pass it.
        ring().entry(p).put(make_sync(sync_signal::none));
        return status::ok;
      case cerror::abt:
        if (retry_again(p)) return status::ok;
        note(p, cerror::abt);
        return status::device_fault;
      case cerror::atc_inv:
        note_atc(allocation.covered_from(p), p);
        return retry_again(p) ? status::ok : status::device_fault;
      default:
        return status::device_fault;
    }
  }

  [[nodiscard]] bool retry_again(position p) noexcept {
    const uint32_t before = p == retried_.get() ? retries_.get() : 0;
    retried_.set(p);
    retries_.set(before + 1);
    return before < ring().opts().fetch_retries;
  }

  static constexpr status status_of(uint32_t code) noexcept {
    switch (static_cast<cerror>(code)) {
      case cerror::ill:
        return status::illegal_command;
      case cerror::abt:
        return status::fetch_abort;
      case cerror::atc_inv:
        return status::atc_timeout;
      default:
        return status::ok;
    }
  }

  /// [X] Before GERRORN lets the device go on: a mark for tickets, and a word to the producer that waits for `p`.
  void note(position p, cerror code) noexcept {
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
      const uint32_t line = i * lines_per_mailbox(ring().opts().batch_limit);
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

  /// The CMD_SYNC where it is its list's own, else each ATC_INV that it answers for: a shared one has waiters without
  /// an ATC_INV of theirs.
  void note_atc(position from, position p) noexcept {
    for (position q = from; q != p; ++q)
      if (opcode_of(ring().entry(q).get().word[0]) == opcode_atc_inv) note(q, cerror::atc_inv);
    if (from == p) note(p, cerror::atc_inv);
  }

  typename P::template atomic<uint32_t> word_;              ///< read at every call, hardly ever written
  typename P::template atomic<position> stood_at_;          ///< where the device stands, while it is stalled
  typename P::template atomic<uint32_t> settled_;           ///< CONS.ERR that has been seen to
  typename P::template atomic<position> msi_void_;          ///< MSIs of CMD_SYNCs before this are not waited for
  alignas(64) typename P::template atomic<uint32_t> busy_;  ///< one handler at a time; what follows is under it
  typename P::template plain<uint32_t> repaired_;           ///< the error that is active is, but for GERRORN
  typename P::template plain<position> retried_;            ///< position of the last retried error
  typename P::template plain<uint32_t> retries_;
  acknowledgement<P> acknowledgement_;
};

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// A modelled device with a ring of commands and completions in memory, for families other than the SMMUv3, which has a
// model of its own (hardware.hpp). It fetches ahead, executes in order, writes completions late if it is told to, and
// stops at what it refuses.
#pragma once

#include <cmdq/model/behaviour.hpp>
#include <cmdq/platform/ring_entry.hpp>

namespace cmdq::model {

/// Pace and faults, all in steps or commands.
struct ring_behaviour {
  uint32_t fetch_ahead = 4;   ///< commands fetched and not executed, at most 16
  uint32_t late_steps = 0;    ///< by which the write of a completion comes late
  bool in_order_seed = true;  ///< false: fetching and executing alternate by `seed`
  uint32_t seed = 1;
  uint32_t lost_writes = 0;     ///< so many completion writes never come
  position abort_fetch_at = 0;  ///< the fetch of that command fails `aborts` times
  uint32_t aborts = 0;
  uint32_t dead_sid = ~0U;  ///< this requester's TLB does not answer, `dead_reports` times
  uint32_t dead_reports = 0;
};

/// Hooks: executed(position, command), on the device's thread.
struct no_ring_hooks {
  template <class Command>
  void executed(position, const Command&) noexcept {}
};

/// `Model` says what the family does:
///  - `family`; `moves_at_fetch`: does the consumer's register move when a command is fetched, or when it is executed
///  - legal(c), is_sync(c), wants_write(c), write_address(c), write_data(c), write_bytes
///  - answers_late(c, sid): is it an invalidation of that requester's TLB? told_at_sync: its time-out is reported by
///  the
///    sync command that covers it, which is executed again; else at once, and aborts_waits says what it does to waits
/// and `errors` holds what the driver sees of errors: illegal(), fetch_failed(), timed_out(sid) raise, stopped() tells.
template <platform_type P, class Model, class Hooks = no_ring_hooks>
class ring_device {
 public:
  using family = typename Model::family;
  using command = typename family::command;
  using entry = ring_entry_of<P, family>;
  using word = typename P::template atomic<uint64_t>;
  static constexpr uint32_t most_ahead = 16;

  explicit ring_device(Hooks h = {}) noexcept : hooks(h) {}
  ring_device(const ring_device&) = delete;
  ring_device& operator=(const ring_device&) = delete;

  /// The ring of 2^log2 entries and its words, as the driver would program them. Not while it runs.
  void attach(entry* entries, uint32_t log2, word* words, uint64_t words_address, position first) noexcept {
    entries_ = entries;
    shape_ = geometry{log2};
    words_ = words;
    words_address_ = words_address;
    fetched_ = executed_ = first;
    tail_.store(family::positions::to_register(shape_, first), at<site::device_prod_write>);
    show();
  }

  void write_prod(uint32_t v) noexcept { tail_.store(v, at<site::device_prod_write>); }
  [[nodiscard]] uint32_t read_cons() const noexcept { return head_.load(at<site::device_cons_read>); }

  /// One step. False: there is nothing to do.
  bool step() noexcept {
    ++steps_;
    if (late_count_ != 0 && late_[late_first_].due <= steps_) return deliver(), true;
    if (hold.load(at<site::device_hold>) != 0) return false;
    if (behaviour.in_order_seed || (draw() & 1U) != 0) return fetch() || execute() || late_count_ != 0;
    return execute() || fetch() || late_count_ != 0;
  }

  /// Position of the next command to be executed, free-running.
  [[nodiscard]] position next() const noexcept { return executed_; }
  /// Did the driver ever tell it of more than fits, or go back? Must stay 0.
  [[nodiscard]] uint32_t wrong_tails() const noexcept { return wrong_tails_; }
  /// Completion writes that hit a word whose sync command is not the one in flight. Must stay 0.
  [[nodiscard]] uint32_t stray_writes() const noexcept { return stray_writes_; }

  Hooks hooks;
  ring_behaviour behaviour;
  typename Model::template errors<P> errors;
  typename P::template atomic<uint32_t> hold{0};
  uint64_t commands = 0;

 private:
  struct late_write {
    uint64_t address = 0;
    uint64_t data = 0;
    uint64_t due = 0;
  };
  struct ahead {
    position at = 0;
    command what;
  };

  uint32_t draw() noexcept {
    behaviour.seed = behaviour.seed * 1664525U + 1013904223U;
    return behaviour.seed >> 16;
  }

  void show() noexcept {
    const position p = Model::moves_at_fetch ? fetched_ : executed_;
    head_.store(family::positions::to_register(shape_, p), at<site::device_cons_write>);
  }

  bool fetch() noexcept {
    if (errors.stopped() || fetched_ - executed_ >= (Model::moves_at_fetch ? behaviour.fetch_ahead : 1U)) return false;
    const uint32_t tail = tail_.load(at<site::device_prod_read>);
    if (!family::positions::valid(shape_, tail)) ++wrong_tails_;
    const uint32_t left = family::positions::ahead(shape_, fetched_, tail);
    if (left > shape_.entries() - family::positions::spare) ++wrong_tails_;
    if (left == 0) return false;
    if (behaviour.aborts != 0 && behaviour.abort_fetch_at == fetched_) {
      --behaviour.aborts;
      errors.fetch_failed();
      return true;
    }
    const command c = entries_[shape_.slot(fetched_)].get();
    if (!Model::legal(c)) {
      errors.illegal();
      return true;
    }
    pipe_[fetched_ % most_ahead] = {fetched_, c};
    ++fetched_;
    if (Model::moves_at_fetch) show();
    return true;
  }

  bool execute() noexcept {
    if (fetched_ == executed_) return false;
    const ahead a = pipe_[executed_ % most_ahead];
    if (errors.stopped() && !Model::moves_at_fetch) return false;
    const bool dead = Model::answers_late(a.what, behaviour.dead_sid);
    if (Model::told_at_sync) {
      unanswered_ = unanswered_ || dead;
      if (Model::family::is_sync(a.what) && unanswered_ && behaviour.dead_reports != 0) {
        if (--behaviour.dead_reports == 0) unanswered_ = false;
        errors.timed_out(behaviour.dead_sid);
        return true;
      }
    } else if (behaviour.dead_reports != 0 && dead) {
      return time_out(a);
    }
    ++executed_;
    ++commands;
    hooks.executed(a.at, a.what);
    if (Model::wants_write(a.what)) complete(a.what);
    if (!Model::moves_at_fetch) show();
    return true;
  }

  /// The command is over without an answer, and the waits that were fetched are aborted: nothing will be written.
  bool time_out(const ahead& a) noexcept {
    --behaviour.dead_reports;
    ++executed_;
    ++commands;
    hooks.executed(a.at, a.what);
    while (Model::aborts_waits && executed_ != fetched_) {
      const ahead b = pipe_[executed_ % most_ahead];
      ++executed_;
      ++commands;
      hooks.executed(b.at, b.what);
    }
    if (!Model::moves_at_fetch) show();
    errors.timed_out(behaviour.dead_sid);
    return true;
  }

  void complete(const command& c) noexcept {
    if (behaviour.lost_writes != 0) {
      --behaviour.lost_writes;
      return;
    }
    if (late_count_ == most_late) deliver();
    late_[(late_first_ + late_count_++) % most_late] = {Model::write_address(c), Model::write_data(c),
                                                        steps_ + behaviour.late_steps};
    if (behaviour.late_steps == 0) deliver();
  }

  void deliver() noexcept {
    const late_write w = late_[late_first_];
    late_first_ = (late_first_ + 1) % most_late;
    --late_count_;
    const uint64_t at_word = (w.address - words_address_) / sizeof(uint64_t);
    if (w.address % sizeof(uint64_t) != 0 || at_word >= shape_.entries()) {
      ++stray_writes_;
      return;
    }
    word& to = words_[at_word];
    uint64_t old = to.load(at<site::device_msi_look>);
    // The driver stores the complement when it puts the command: any other value means that the word was used again.
    if (static_cast<uint32_t>(old) != ~static_cast<uint32_t>(w.data)) ++stray_writes_;
    const uint64_t keep = Model::write_bytes == 8 ? 0 : ~uint64_t{0} << 32;
    while (!to.compare_exchange(old, (old & keep) | (w.data & ~keep), at<site::device_msi_write>)) {
    }
  }

  static constexpr uint32_t most_late = 512;
  entry* entries_ = nullptr;
  word* words_ = nullptr;
  uint64_t words_address_ = 0;
  geometry shape_;
  position fetched_ = 0;
  position executed_ = 0;
  uint64_t steps_ = 0;
  uint32_t wrong_tails_ = 0;
  uint32_t stray_writes_ = 0;
  bool unanswered_ = false;  ///< a TLB that no sync command has reported yet
  ahead pipe_[most_ahead];
  late_write late_[most_late];
  uint32_t late_first_ = 0;
  uint32_t late_count_ = 0;
  typename P::template atomic<uint32_t> tail_{0};
  typename P::template atomic<uint32_t> head_{0};
};

}  // namespace cmdq::model

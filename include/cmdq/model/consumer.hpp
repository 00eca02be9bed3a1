// SPDX-License-Identifier: BSL-1.0
// The consumer of the command queue, one step at a time: fetch, execute, complete, move CONS. It is one sequential
// machine; whoever steps it owns it. What it shares with the CPU goes through the register file and the ring.
#pragma once

#include <stdint.h>

#include <cmdq/model/behaviour.hpp>
#include <cmdq/model/driver_rules.hpp>
#include <cmdq/model/hooks.hpp>
#include <cmdq/model/late_writes.hpp>
#include <cmdq/model/legality.hpp>
#include <cmdq/model/register_file.hpp>
#include <cmdq/model/ring_window.hpp>

namespace cmdq::model {

/// What a step did.
enum class step_result : uint8_t {
  idle,       ///< nothing to do: ring empty, everything written
  disabled,   ///< CMDQEN = 0 as CR0ACK shows
  held,       ///< a test holds the device
  stopped,    ///< an unacknowledged command error, or service failure mode
  waiting,    ///< counting down a late CONS, MSI or CR0ACK
  control,    ///< a write to CR0 took effect
  fetched,    ///< a command was read from the ring
  executed,   ///< a command was executed
  completed,  ///< its completion was signalled (CMD_SYNC) or needs no signal
  moved,      ///< CONS moved
  kept,       ///< the command is consumed, CONS did not move yet (lazy)
  late_msi,   ///< a late MSI write was done
  error,      ///< a command error was raised
};

/// True when stepping on is pointless until a register is written or the hold is lifted.
constexpr bool rests(step_result r) noexcept { return r <= step_result::stopped; }

template <platform_type P, entry_type Entry, class Hooks = null_hooks>
class consumer {
 public:
  explicit consumer(const capabilities& c, Hooks h = {}) noexcept : registers(c), hooks(h) {}

  /// One step. Never blocks but for the time that pace and Hooks::hold_ns tell it to spend.
  step_result step() noexcept {
    ++steps_;
    if (late_.due(steps_)) return deliver_late();
    if (hold.load(at<site::device_hold>) != 0) return at_rest(step_result::held);
    switch (phase_) {
      case phase::fetch:
        return fetch();
      case phase::execute:
        return execute();
      case phase::complete:
        return complete();
      default:
        return move();
    }
  }

  /// Power cycle: registers and machine as after reset; memory window, pace and faults stay. Not while it runs.
  void reset() noexcept {
    registers.cr0.store(0, at<site::device_control_write>);
    registers.cr0ack.store(0, at<site::device_control_write>);
    registers.prod.store(0, at<site::device_prod_write>);
    registers.cons.store(0, at<site::device_cons_write>);
    registers.gerror.store(0, at<site::device_gerror_write>);
    registers.gerrorn.store(0, at<site::device_ack_write>);
    service_failed.store(0, at<site::device_hold>);
    registers.cr1 = registers.cr2 = 0;
    registers.cmdq_base = 0;
    phase_ = phase::fetch;
    acknowledged_ = 0;
    error_code_ = 0;
    late_.clear();
    rules_.reset();
    deferred_count_ = 0;
    atc_ = {};
  }

  /// Position of the next command to fetch, free-running from `origin`.
  [[nodiscard]] position next() const noexcept { return next_; }
  [[nodiscard]] const command& current() const noexcept { return current_; }

  register_file<P> registers;
  Hooks hooks;
  ring_window<Entry> memory;
  pace speed;
  faults plan;
  anomalies odd;
  position origin = 0;    ///< the position whose register value CONS is near when CMDQEN is switched on
  uint64_t commands = 0;  ///< executed, CMD_SYNCs included
  uint64_t syncs = 0;
  typename P::template atomic<uint32_t> hold{0};            ///< not 0: the device does nothing
  typename P::template atomic<uint32_t> service_failed{0};  ///< not 0: stopped for good (SFM)

 private:
  enum class phase : uint8_t { fetch, execute, complete, move };
  static constexpr uint32_t deferred_capacity = 64;

  step_result at_rest(step_result r) const noexcept { return late_.empty() ? r : step_result::waiting; }

  step_result fetch() noexcept {
    const uint32_t cr0 = registers.cr0.load(at<site::device_control_read>);
    if (cr0 != acknowledged_) return control(cr0);
    if ((acknowledged_ & cmdqen) == 0) return at_rest(step_result::disabled);
    if (service_failed.load(at<site::device_hold>) != 0 || error_active()) return at_rest(step_result::stopped);
    const uint32_t prod = registers.prod.load(at<site::device_prod_read>);
    watch(prod);
    if (shape_.empty(prod, next_)) return empty();
    for (uint32_t i = 0; i < plan.abort_count; ++i)
      if (plan.aborts[i].at == next_ && take(plan.aborts[i].times)) return raise(cerror::abt);
    const Entry* entry = memory.find(base_ + ring_window<Entry>::entry_bytes * shape_.slot(next_));
    if (entry == nullptr) return raise(cerror::abt);
    current_ = memory.fetch(*entry);
    idle_left_ = speed.cons_idle_steps;
    phase_ = phase::execute;
    return step_result::fetched;
  }

  step_result control(uint32_t cr0) noexcept {
    if (control_left_ < speed.cr0ack_steps) {
      ++control_left_;
      return step_result::waiting;
    }
    control_left_ = 0;
    if ((cr0 & ~acknowledged_ & cmdqen) != 0) {
      shape_ = registers.shape();
      base_ = registers.base_address();
      next_ = origin + shape_.ahead(origin, cons_position(registers.cons.load(at<site::device_cons_read>)));
      published_ = next_;
      last_prod_ = shape_.to_register(next_);
      error_code_ = 0;
    }
    acknowledged_ = cr0;
    registers.cr0ack.store(cr0, at<site::device_control_write>);
    return step_result::control;
  }

  [[nodiscard]] bool error_active() const noexcept {
    const uint32_t ack = registers.gerrorn.load(at<site::device_ack_read>);
    return ((registers.gerror.load(at<site::device_gerror_read>) ^ ack) & gerror::cmdq_err) != 0;
  }

  void watch(uint32_t prod) noexcept {
    if (prod == last_prod_) return;
    const uint32_t ahead_now = shape_.ahead(next_, prod);
    if (ahead_now < shape_.ahead(next_, last_prod_) || ahead_now > shape_.entries()) ++odd.prod_moved_wrongly;
    if (registers.caps.part.sync_every_batch) {
      const Entry* last = memory.find(base_ + ring_window<Entry>::entry_bytes * shape_.slot(prod - 1));
      if (last != nullptr && opcode_of(memory.fetch(*last).word[0]) != opcode_sync) ++odd.unsynced_batches;
    }
    last_prod_ = prod;
  }

  step_result empty() noexcept {
    if (published_ == next_) return at_rest(step_result::idle);
    if (idle_left_ > 0) {
      --idle_left_;
      return step_result::waiting;
    }
    publish();
    return step_result::moved;
  }

  /// Stops at the current command: CONS points at it, then GERROR says so.
  step_result raise(cerror why) noexcept {
    error_code_ = static_cast<uint32_t>(why);
    published_ = next_;
    registers.cons.store(shape_.to_register(next_) | error_code_ << 24, at<site::device_cons_write>);
    phase_ = phase::fetch;
    hooks.failed(next_, why == cerror::abt ? command{} : current_, why);
    toggle(gerror::cmdq_err);
    return step_result::error;
  }

  void toggle(uint32_t bit) noexcept {
    const uint32_t before = registers.gerror.fetch_xor(bit, at<site::device_gerror_write>);
    hooks.global_error(before ^ bit);
  }

  step_result execute() noexcept {
    if (!accepted(current_, registers.caps)) return raise(cerror::ill);
    const bool sync = opcode_of(current_.word[0]) == opcode_sync;
    if (sync && atc_.report()) return raise(cerror::atc_inv);
    spend((sync ? speed.sync_ns : speed.command_ns) + hooks.hold_ns(current_));
    if (sync)
      apply_deferred();
    else
      take_effect();
    rules_.executed(current_, registers.caps.part, odd);
    ++commands;
    syncs += sync ? 1U : 0U;
    hooks.executed(next_, current_, P::now_ns());
    phase_ = phase::complete;
    return step_result::executed;
  }

  void take_effect() noexcept {
    if (opcode_of(current_.word[0]) == opcode_atc_inv) atc_.cover(plan, static_cast<uint32_t>(current_.word[0] >> 32));
    if (!speed.defer_effects) {
      hooks.effect(current_);
      return;
    }
    if (deferred_count_ == deferred_capacity) apply_deferred();
    deferred_[deferred_count_++] = current_;
  }
  void apply_deferred() noexcept {
    for (uint32_t i = 0; i < deferred_count_; ++i) hooks.effect(deferred_[i]);
    deferred_count_ = 0;
  }

  void spend(uint64_t ns) noexcept {
    if (ns == 0) return;
    if constexpr (requires(Hooks h) { h.spend(ns); }) {
      hooks.spend(ns);
    } else {
      const uint64_t start = P::now_ns();
      if (start == 0) return;  // a platform without clock
      while (P::now_ns() - start < ns) P::yield();
    }
  }

  step_result complete() noexcept {
    phase_ = phase::move;
    if (opcode_of(current_.word[0]) != opcode_sync) return step_result::completed;
    const auto signal = static_cast<sync_signal>((current_.word[0] >> 12) & 3U);
    const uint64_t address = current_.word[1] & 0x000ffffffffffffcULL;
    if (signal == sync_signal::event && registers.caps.sev && !registers.caps.part.no_sev && !take(plan.lost_events))
      hooks.event();
    if (signal != sync_signal::msi) return step_result::completed;
    if (!registers.caps.msi || address == 0) {
      hooks.wired_interrupt();
      return step_result::completed;
    }
    const uint64_t data = hooks.msi_value(current_.word[0] >> 32);
    if (speed.msi_late_steps == 0) {
      write_msi(address, data);
    } else {
      if (late_.full()) deliver_late();
      late_.push({address, data, steps_ + speed.msi_late_steps});
    }
    return step_result::completed;
  }

  step_result deliver_late() noexcept {
    const late_write w = late_.pop();
    write_msi(w.address, w.data);
    return step_result::late_msi;
  }

  void write_msi(uint64_t address, uint64_t data) noexcept {
    const unsigned bytes = registers.caps.part.msi_64bit ? 8 : 4;
    bool done = !take(plan.failing_msis);
    if (done)
      done = memory.contains(address) ? memory.write(address, data, bytes) : hooks.external_write(address, data, bytes);
    if (done) return;
    const uint32_t ack = registers.gerrorn.load(at<site::device_ack_read>);
    if (((registers.gerror.load(at<site::device_gerror_read>) ^ ack) & gerror::msi_cmdq_abt) == 0)
      toggle(gerror::msi_cmdq_abt);
  }

  step_result move() noexcept {
    phase_ = phase::fetch;
    ++next_;
    if (distance(published_, next_) < static_cast<int32_t>(speed.cons_every)) return step_result::kept;
    publish();
    return step_result::moved;
  }

  void publish() noexcept {
    published_ = next_;
    if (speed.error_code == stale_error::cleared) error_code_ = 0;
    registers.cons.store(shape_.to_register(next_) | error_code_ << 24, at<site::device_cons_write>);
  }

  phase phase_ = phase::fetch;
  command current_;
  geometry shape_;
  uint64_t base_ = 0;
  position next_ = 0;
  position published_ = 0;
  uint32_t last_prod_ = 0;
  uint32_t acknowledged_ = 0;
  uint32_t error_code_ = 0;
  uint32_t control_left_ = 0;
  uint32_t idle_left_ = 0;
  uint64_t steps_ = 0;
  late_writes late_;
  driver_rules rules_;
  command deferred_[deferred_capacity] = {};
  uint32_t deferred_count_ = 0;
  unanswered atc_;
};

}  // namespace cmdq::model

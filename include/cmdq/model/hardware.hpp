// SPDX-License-Identifier: BSL-1.0
// A modelled SMMUv3 as the queue sees it: the register block that a driver programs and the consumer behind it. It runs
// inside the register writes (device_drive::in_write) or is stepped by a test or a thread (device_drive::stepped).
#pragma once

#include <stdint.h>

#include <cmdq/model/consumer.hpp>

namespace cmdq::model {

enum class device_drive : uint8_t {
  in_write,  ///< consumes inside the writes of PROD, GERRORN and CR0, as QEMU's SMMUv3 does
  stepped,   ///< consumes in step() or run_until() only
};

/// Satisfies device_type. P: platform; Entry: what the ring is made of; Hooks: see null_hooks.
///
/// Register accesses may come from any thread at any time; the driver's own rules (one PROD writer at a time) are the
/// driver's to keep, and `consumer::odd` counts where it did not. In stepped mode one thread steps.
template <platform_type P, entry_type Entry, class Hooks = null_hooks>
class hardware : public consumer<P, Entry, Hooks> {
  using machine = consumer<P, Entry, Hooks>;

 public:
  using machine::registers;

  explicit hardware(device_drive drive, const capabilities& c = {}, Hooks h = {}) noexcept
      : machine(c, h), drive_(drive) {}
  hardware(const hardware&) = delete;
  hardware& operator=(const hardware&) = delete;

  /// Maps `entries` (1 << log2 of them) at device address `base` and brings the queue up as a driver does: CR0 off,
  /// CR1, CR2, CMDQ_BASE, PROD and CONS at `start`, CR0.CMDQEN, wait for CR0ACK. Errors: those of
  /// register_file::write(). Steps the device itself, so no other thread may step it meanwhile.
  status attach(Entry* entries, uint32_t log2, uint64_t base, position start = 0) noexcept {
    if (entries == nullptr) return status::invalid_argument;
    if (log2 > max_log2_size) return status::out_of_range;
    const geometry shape{log2};
    machine::memory = {base, entries, shape.entries()};
    machine::origin = start;
    const struct {
      uint32_t offset;
      uint64_t value;
    } sequence[] = {
        {offset::cr0, 0},
        {offset::cr1, 0xd75},
        {offset::cr2, 0x6},
        {offset::cmdq_base, 1ULL << 62 | base | log2},
        {offset::cmdq_prod, shape.to_register(start)},
        {offset::cmdq_cons, shape.to_register(start)},
        {offset::cr0, cmdqen},
    };
    for (const auto& w : sequence) {
      if (const status s = write(w.offset, w.value); s != status::ok) return s;
      if (w.offset == offset::cr0)
        while (read(offset::cr0ack) != w.value) machine::step();
    }
    return status::ok;
  }

  /// A register read by a driver. See register_file::read().
  [[nodiscard]] uint64_t read(uint32_t at_offset) const noexcept { return registers.read(at_offset); }
  /// A register write by a driver. Errors: see register_file::write(); a refused write has no effect.
  status write(uint32_t at_offset, uint64_t value) noexcept {
    const status s = registers.write(at_offset, value);
    if (s == status::ok) kick();
    return s;
  }

  void write_prod(uint32_t v) noexcept {
    registers.prod.store(v, at<site::device_prod_write>);
    kick();
  }
  [[nodiscard]] uint32_t read_cons() const noexcept { return registers.cons.load(at<site::device_cons_read>); }
  [[nodiscard]] uint32_t read_gerror() const noexcept { return registers.gerror.load(at<site::device_gerror_read>); }
  [[nodiscard]] uint32_t read_gerrorn() const noexcept { return registers.gerrorn.load(at<site::device_ack_read>); }
  void write_gerrorn(uint32_t v) noexcept {
    registers.gerrorn.store(v, at<site::device_ack_write>);
    kick();
  }

  /// Holds the device still between two steps, and lets it go on. From any thread.
  void stall() noexcept { machine::hold.store(1, at<site::device_hold>); }
  void resume() noexcept {
    machine::hold.store(0, at<site::device_hold>);
    kick();
  }

  /// Raises global errors that do not come from a command. SFM stops the device until reset(). From any thread.
  void raise_global(uint32_t bits) noexcept {
    if ((bits & gerror::sfm) != 0) machine::service_failed.store(1, at<site::device_hold>);
    registers.gerror.fetch_xor(bits, at<site::device_gerror_write>);
  }

  /// Steps until the device rests. For the thread that steps it.
  step_result drain() noexcept {
    step_result r = machine::step();
    while (!rests(r)) r = machine::step();
    return r;
  }

  /// Body of a device thread: steps until `stop()` says so, giving the processor away whenever there is nothing to do.
  template <class Stop>
  void run_until(Stop&& stop) noexcept {
    unsigned round = 0;
    while (!stop()) {
      if (!rests(machine::step())) {
        round = 0;
        continue;
      }
      P::pause(&registers.prod, round++);
      P::yield();
    }
  }

 private:
  /// Whoever finds no consumer at work consumes, and goes on until no kick has come in between: a register write that
  /// finds the consumer busy is never left unseen, and nobody waits.
  void kick() noexcept {
    if (drive_ != device_drive::in_write) return;
    if (kicks_.fetch_add(1, at<site::device_kick>) != 0) return;
    uint32_t seen = 0;
    do {
      seen = kicks_.load(at<site::device_kick_look>);
      drain();
    } while (!kicks_.compare_exchange(seen, 0, at<site::device_rest>));
  }

  device_drive drive_;
  typename P::template atomic<uint32_t> kicks_{0};
};

}  // namespace cmdq::model

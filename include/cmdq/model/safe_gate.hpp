// SPDX-License-Identifier: BSL-1.0
// The SMMU's side of the SAFE signal: an invalidation waits until the display is safe, or until the SoC's maximum delay
// has passed. The time is the simulation's own: the world moves while the gate waits.
#pragma once

#include <stdint.h>

#include <cmdq/smmuv3/wire.hpp>

namespace cmdq::model {

/// How an invalidation got through.
enum class passage : uint8_t { gate_off, safe_at_once, safe_later, forced };

struct gate_result {
  passage how = passage::gate_off;
  uint64_t waited_ns = 0;
};

class safe_gate {
 public:
  explicit safe_gate(uint64_t max_delay_ns, uint64_t step_ns = 50) noexcept
      : max_delay_ns_(max_delay_ns), step_ns_(step_ns == 0 ? 1 : step_ns) {}

  /// Waits. `safe()` reads the signal; `pass_time(ns)` moves the world on. Ends after at most the maximum delay; cost:
  /// one call of each per step.
  template <class Safe, class PassTime>
  gate_result wait(Safe&& safe, PassTime&& pass_time) noexcept {
    if (!on_) return {passage::gate_off, 0};
    uint64_t waited = 0;
    while (!safe()) {
      if (waited >= max_delay_ns_) {
        ++forced_;
        return {passage::forced, waited};
      }
      const uint64_t left = max_delay_ns_ - waited;
      const uint64_t ns = left < step_ns_ ? left : step_ns_;
      pass_time(ns);
      waited += ns;
    }
    return {waited == 0 ? passage::safe_at_once : passage::safe_later, waited};
  }

  /// Switches the gate through a secure firmware call, `int call(bool on)`: negative is a failure. Returns what the
  /// call said; after a failure the gate is as it was.
  template <class Firmware>
  int switch_to(bool on, Firmware&& call) noexcept {
    const int said = call(on);
    if (said >= 0) on_ = on;
    return said;
  }

  [[nodiscard]] bool on() const noexcept { return on_; }
  /// Invalidations that the maximum delay let through.
  [[nodiscard]] uint32_t forced() const noexcept { return forced_; }

 private:
  uint64_t max_delay_ns_;
  uint64_t step_ns_;
  bool on_ = true;
  uint32_t forced_ = 0;
};

/// Which CMD_SYNCs the gate holds up: those with a TLBI before them since the last one.
class gated_syncs {
 public:
  /// True for a CMD_SYNC that completes an invalidation.
  constexpr bool holds(const command& c) noexcept {
    const command_class k = class_of(c.word[0]);
    if (k == command_class::tlb) pending_ = true;
    if (k != command_class::sync) return false;
    const bool held = pending_;
    pending_ = false;
    return held;
  }

 private:
  bool pending_ = false;
};

}  // namespace cmdq::model

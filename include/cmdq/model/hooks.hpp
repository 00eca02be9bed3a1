// SPDX-License-Identifier: BSL-1.0
// What a user of the modelled device may watch or replace. Derive from null_hooks and shadow what is of interest; the
// calls are resolved at compile time, so an unused one costs nothing. All of them run on the device's thread.
#pragma once

#include <stdint.h>

#include <cmdq/core/position.hpp>
#include <cmdq/smmuv3/error_bits.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq::model {

/// A hook type may also offer `void spend(uint64_t ns)`: how the device passes the time it works. Without it, it spins
/// on the platform's clock and yields.
struct null_hooks {
  /// The command at `at` was executed. `now_ns`: platform clock.
  void executed(position /*at*/, const command& /*what*/, uint64_t /*now_ns*/) noexcept {}
  /// The command takes effect: at its execution, or at the next CMD_SYNC with pace::defer_effects.
  void effect(const command& /*what*/) noexcept {}
  /// The command was refused with this code; it is fetched again after the acknowledgement.
  void failed(position /*at*/, const command& /*what*/, cerror /*why*/) noexcept {}
  /// Extra time that this command takes, in ns (a gate that stalls invalidations).
  uint64_t hold_ns(const command& /*what*/) noexcept { return 0; }
  /// A CMD_SYNC with CS = 2 completed and its event was not lost.
  void event() noexcept {}
  /// A CMD_SYNC with CS = 1 completed without MSI (no MSI support or MSIADDR = 0).
  void wired_interrupt() noexcept {}
  /// GERROR changed; a driver would get an interrupt now.
  void global_error(uint32_t /*gerror*/) noexcept {}
  /// An MSI write to an address outside the mapped ring. False: it aborts (GERROR.MSI_CMDQ_ABT).
  bool external_write(uint64_t /*address*/, uint64_t /*data*/, unsigned /*bytes*/) noexcept { return false; }
  /// The value an MSI writes; a hostile device may write any.
  uint64_t msi_value(uint64_t honest) noexcept { return honest; }
};

/// One line of a recording.
struct record {
  position at = 0;
  command what;
  uint64_t ns = 0;
};

/// Records executed commands into a buffer of the caller. When it is full, further ones are counted, not kept. Read it
/// when the device does not run.
class recording {
 public:
  recording() = default;
  recording(record* buffer, uint32_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {}
  void add(position at, const command& what, uint64_t ns) noexcept {
    if (seen_ < capacity_) buffer_[seen_] = {at, what, ns};
    ++seen_;
  }
  [[nodiscard]] uint32_t seen() const noexcept { return seen_; }
  [[nodiscard]] uint32_t kept() const noexcept { return seen_ < capacity_ ? seen_ : capacity_; }
  [[nodiscard]] bool overflowed() const noexcept { return seen_ > capacity_; }
  [[nodiscard]] const record& operator[](uint32_t i) const noexcept { return buffer_[i]; }
  void clear() noexcept { seen_ = 0; }

 private:
  record* buffer_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t seen_ = 0;
};

/// Hooks that only record.
struct recording_hooks : null_hooks {
  recording* log = nullptr;
  recording_hooks() = default;
  explicit recording_hooks(recording& to) noexcept : log(&to) {}
  void executed(position at, const command& what, uint64_t now_ns) noexcept {
    if (log != nullptr) log->add(at, what, now_ns);
  }
};

}  // namespace cmdq::model

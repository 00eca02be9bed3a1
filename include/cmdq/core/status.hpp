// SPDX-License-Identifier: BSL-1.0
// What a call can say, and the trivially copyable value-or-reason that factories return.
#pragma once

#include <stdint.h>

namespace cmdq {

/// Outcome of a call. Everything but `device_fault` leaves the queue usable; see recover().
enum class status : uint8_t {
  ok,                  ///< done
  timeout,             ///< the call's one time budget ended; what was inserted stays in the ring and is not lost
  stalled,             ///< the device has consumed nothing for a whole deadline; nothing was inserted; ends by itself
  illegal_command,     ///< CERROR_ILL at a command of this call
  fetch_abort,         ///< CERROR_ABT at a command of this call, after bounded retries
  atc_timeout,         ///< CERROR_ATC_INV at the CMD_SYNC that covers an ATC_INV of this call
  device_fault,        ///< registers or completion words hold what no working device can have written
  expired,             ///< a ticket that is too old to be answered for
  would_block,         ///< a try_ call would have had to wait; nothing was inserted
  invalid_argument,    ///< null pointer, reserved value, CMD_SYNC inside a list
  out_of_range,        ///< a number outside its limits
  misaligned,          ///< ring base not aligned to the ring's size
  ring_too_small,      ///< ring cannot hold what its producers may have outstanding
  too_many_producers,  ///< attach() beyond options.producers
  busy,                ///< this producer is inside a call or its writer is open: nothing was done
  no_space,            ///< nothing of that size is free: IOVA space, or the memory given to set a thing up
};

/// The enumerator's name. Never null. Cost: a table look-up.
constexpr const char* name(status s) noexcept {
  constexpr const char* names[] = {
      "ok",           "timeout",      "stalled",        "illegal_command",    "fetch_abort",
      "atc_timeout",  "device_fault", "expired",        "would_block",        "invalid_argument",
      "out_of_range", "misaligned",   "ring_too_small", "too_many_producers", "busy",
      "no_space"};
  const auto i = static_cast<unsigned>(s);
  return i < sizeof names / sizeof names[0] ? names[i] : "unknown";
}

/// Why a factory refused: which field, the value given and the limit that it broke.
struct refusal {
  status code = status::ok;
  const char* field = "";  ///< name of the option or argument
  uint64_t value = 0;      ///< as given
  uint64_t limit = 0;      ///< the bound it had to keep
};

/// A value or the reason why there is none. Trivially copyable where T is.
template <class T>
class [[nodiscard]] result {
 public:
  constexpr result(T value) noexcept : value_(value) {}
  constexpr result(refusal why) noexcept : why_(why) {}
  [[nodiscard]] constexpr bool ok() const noexcept { return why_.code == status::ok; }
  constexpr explicit operator bool() const noexcept { return ok(); }
  /// Precondition: ok(). A default T otherwise.
  [[nodiscard]] constexpr const T& operator*() const noexcept { return value_; }
  [[nodiscard]] constexpr const T* operator->() const noexcept { return &value_; }
  [[nodiscard]] constexpr status code() const noexcept { return why_.code; }
  [[nodiscard]] constexpr const refusal& why() const noexcept { return why_; }

 private:
  T value_{};
  refusal why_{};
};

}  // namespace cmdq

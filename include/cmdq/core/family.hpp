// SPDX-License-Identifier: BSL-1.0
// The seam between the algorithm and a kind of device: what the queue asks of a device family. Everything that a
// command's bits or a register's bits mean is behind it; a family lies in a folder of its own (cmdq/smmuv3 is the
// first; cmdq/riscv is the shortest to start from). The fifth part, bring-up, is no business of the queue: a family
// has a `device` class for it, whose objects its `drives` accepts.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/core/positions.hpp>
#include <cmdq/core/status.hpp>

namespace cmdq {

/// Where a caller can see that a sync command is done. Bits: a family says which ways it has, a completion policy
/// which it takes.
namespace completes {
inline constexpr uint8_t by_register = 1;  ///< the consumer's register is past it, and that means done, not fetched
inline constexpr uint8_t in_entry = 2;     ///< the device writes into the sync command's own entry
inline constexpr uint8_t in_word = 4;      ///< the device writes a value of our choice to a word of our choice
}  // namespace completes

/// What a device can hold against a command. The values are those in a mark.
enum class fault : uint8_t {
  none = 0,
  illegal = 1,     ///< it refuses the command
  fetch = 2,       ///< it cannot read it
  unanswered = 3,  ///< somebody behind it (a device's TLB) did not answer
};

constexpr status status_of(fault f) noexcept {
  return f == fault::illegal      ? status::illegal_command
         : f == fault::fetch      ? status::fetch_abort
         : f == fault::unanswered ? status::atc_timeout
                                  : status::ok;
}

/// What a look at the device's errors came to.
struct error_report {
  status code = status::ok;  ///< ok, or device_fault: the device cannot go on
  bool handled = false;      ///< an error of the command queue was repaired, or a lost completion noted
  bool again = false;        ///< another one waits, or somebody else is at it: look again
  uint32_t others = 0;       ///< active error bits that are not the queue's: the driver's to see to
  status left = status::ok;  ///< error of a list whose producer is gone, told once (illegal_command, ...)
};

namespace detail {
template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
template <class A, class B>
concept is = is_same<A, B>;
}  // namespace detail

/// Part 1, entry and geometry: `command`, a command_of<2> or command_of<4>; `positions`, how registers hold them;
/// `position_field(reg)`, that part of the consumer's register; min_log2_size and max_log2_size.
template <class F>
concept family_geometry = requires(uint32_t reg, geometry g, position p) {
  F::command::word;
  { F::positions::to_register(g, p) } -> detail::is<uint32_t>;
  { F::positions::ahead(g, p, reg) } -> detail::is<uint32_t>;
  { F::positions::valid(g, reg) } -> detail::is<bool>;
  { F::position_field(reg) } -> detail::is<uint32_t>;
  { F::min_log2_size } -> detail::is<const uint32_t&>;
  { F::max_log2_size } -> detail::is<const uint32_t&>;
};

/// Part 2, the sync command: `ways`, bits of `completes`; `harmless()`, a command that does nothing and signals
/// nothing, accepted by every implementation, also in place of one that was refused; and for each way it has:
///  - by_register: `sync_by_register(signal)`
///  - in_entry: `sync_in_entry(address)`, `entry_done(word0)` and `entry_pending(word0)`
///  - in_word: `sync_in_word(address, value)`, a write of at least the 32 bits of `value`
template <class F>
concept family_sync = requires {
  { F::ways } -> detail::is<const uint8_t&>;
  { F::harmless() } -> detail::is<typename F::command>;
}
&&((F::ways & completes::by_register) == 0 ||
   requires(typename F::signal s) {
     { F::sync_by_register(s) } -> detail::is<typename F::command>;
   }) &&
    ((F::ways & completes::in_entry) == 0 ||
     requires(uint64_t address, uint64_t word0) {
       { F::sync_in_entry(address) } -> detail::is<typename F::command>;
       { F::entry_done(word0) } -> detail::is<bool>;
       { F::entry_pending(word0) } -> detail::is<bool>;
     }) &&
    ((F::ways & completes::in_word) == 0 || requires(uint64_t address, uint32_t value) {
      { F::sync_in_word(address, value) } -> detail::is<typename F::command>;
    });

/// Part 3, errors: `shows_error(reg)` and `error_code(reg)`, what the consumer's register says of them (false and 0
/// where it says nothing), `own_errors`, the bits that are the queue's, and `errors<P>`, the protocol. Its handle(host)
/// looks at the device and handles at most one error: finds its position, tells it (host.note()), makes it harmless and
/// lets the device go on. One caller at a time is inside. `host` is an error_host (queue/errors.hpp).
template <class F>
concept family_errors = requires(uint32_t reg) {
  { F::shows_error(reg) } -> detail::is<bool>;
  { F::error_code(reg) } -> detail::is<uint32_t>;
};

/// Part 4, commands and limits: class_of(c); is_sync(c), the queue's own kind; answers_at_sync(c), errors of which only
/// a sync command can report; own_copy(c), a copy read once that cannot be mistaken for anything else; `limits`, what a
/// device can do, and permits(limits, c); `signal`, a choice for sync_by_register(), with default_signal;
/// check_signal() and check_device() for make_plan().
template <class F>
concept family_commands = requires(const typename F::command& c, const typename F::limits& d, typename F::signal s,
                                   uint64_t address) {
  { F::class_of(c) } -> detail::is<command_class>;
  { F::is_sync(c) } -> detail::is<bool>;
  { F::answers_at_sync(c) } -> detail::is<bool>;
  { F::own_copy(c) } -> detail::is<typename F::command>;
  { F::permits(d, c) } -> detail::is<refusal>;
  { d.restricts_commands() } -> detail::is<bool>;
  { F::default_signal } -> detail::is<const typename F::signal&>;
  { F::check_signal(s) } -> detail::is<refusal>;
  { F::check_device(d, s, F::ways, address, address, address, address) } -> detail::is<refusal>;
};

/// A device family. Where it does not hold, the compiler names the part and in it the expression that is missing.
template <class F>
concept device_family = family_geometry<F> && family_sync<F> && family_errors<F> && family_commands<F>;

}  // namespace cmdq

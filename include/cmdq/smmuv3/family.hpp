// SPDX-License-Identifier: BSL-1.0
// The Arm SMMUv3 as the queue sees it: the first device family. Bring-up is in device.hpp, what a device can do in
// capabilities.hpp.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/smmuv3/device_type.hpp>
#include <cmdq/smmuv3/errors.hpp>
#include <cmdq/smmuv3/limits.hpp>

namespace cmdq::smmuv3 {

struct family {
  static constexpr const char* name = "smmuv3";

  // --- 1. entry and geometry
  using command = cmdq::command;
  using positions = wrapped_positions;
  static constexpr uint32_t min_log2_size = 2;
  static constexpr uint32_t max_log2_size = 19;  ///< CMDQ_BASE.LOG2SIZE
  static constexpr uint32_t position_field(uint32_t cons) noexcept { return cons_position(cons); }

  // --- 2. sync command
  static constexpr uint8_t ways = completes::by_register | completes::in_entry | completes::in_word;
  /// Every implementation accepts this one, also in place of a CMD_SYNC whose signal it refused.
  static constexpr command harmless() noexcept { return make_sync(sync_signal::none); }
  static constexpr command sync_by_register(sync_signal s) noexcept { return make_sync(s); }
  static constexpr command sync_in_entry(uint64_t address) noexcept { return make_msi_sync(address, 0); }
  static constexpr bool entry_done(uint64_t word0) noexcept { return static_cast<uint32_t>(word0) == 0; }
  static constexpr bool entry_pending(uint64_t word0) noexcept { return is_msi_sync(word0); }
  /// For completion::automatic: does that work on this device, and is the register the faster way?
  static constexpr bool can_complete_in_entry(const device_limits& d, uint64_t ring_address) noexcept {
    return d.can_poll_msi(ring_address);
  }
  static constexpr bool prefers_register(const device_limits& d) noexcept { return d.prefer_cons; }
  static constexpr command sync_in_word(uint64_t address, uint32_t value) noexcept {
    return make_msi_sync(address, value);
  }

  // --- 3. errors
  static constexpr bool shows_error(uint32_t cons) noexcept { return cmdq::shows_error(cons); }
  static constexpr uint32_t error_code(uint32_t cons) noexcept { return cons_error(cons); }
  static constexpr uint32_t own_errors = cmdq::own_errors;
  template <class P>
  using errors = error_protocol<P>;

  // --- 4. commands and limits
  using limits = device_limits;
  using signal = sync_signal;
  static constexpr signal default_signal = sync_signal::event;
  static constexpr command_class class_of(const command& c) noexcept { return cmdq::class_of(c.word[0]); }
  [[gnu::always_inline]] static constexpr bool is_sync(const command& c) noexcept {
    return opcode_of(c.word[0]) == opcode_sync;
  }
  [[gnu::always_inline]] static constexpr bool answers_at_sync(const command& c) noexcept {
    return opcode_of(c.word[0]) == opcode_atc_inv;
  }
  [[gnu::always_inline]] static command own_copy(const command& from) noexcept { return cmdq::own_copy(from); }
  static constexpr refusal permits(const limits& d, const command& c) noexcept { return cmdq::permits(d, c); }
  static constexpr refusal check_signal(sync_signal s) noexcept {
    return s == sync_signal::msi ? refusal{status::invalid_argument, "signal", 1, 2} : refusal{};
  }
  /// What the device cannot do. `bytes`: size of the ring, to which its address is aligned, so that its end cannot pass
  /// a power of two that its start keeps.
  static constexpr refusal check_device(const limits& d, sync_signal s, uint8_t wanted, uint64_t address,
                                        uint64_t bytes, uint64_t words, uint64_t words_bytes) noexcept {
    constexpr uint8_t most = device_limits::most_output_bits;
    if (d.output_bits > most) return {status::out_of_range, "device.output_bits", d.output_bits, most};
    if (d.asid_bits > 16) return {status::out_of_range, "device.asid_bits", d.asid_bits, 16};
    if (d.vmid_bits > 16) return {status::out_of_range, "device.vmid_bits", d.vmid_bits, 16};
    if (!d.opcodes.has(opcode_sync)) return {status::invalid_argument, "device.opcodes", opcode_sync, 0};
    if (s == sync_signal::event && !d.event) return {status::invalid_argument, "signal", static_cast<uint64_t>(s), 0};
    const uint64_t reach = uint64_t{1} << d.output_bits;
    if (address >= reach || bytes > reach - address)
      return {status::out_of_range, "device_address", address, reach < bytes ? 0 : reach - bytes};
    if ((wanted & completes::by_register) != 0 || wanted == 0) return {};  // CONS will do
    if (!d.msi) return {status::invalid_argument, "device.msi", 0, 1};
    if (!d.coherent) return {status::invalid_argument, "device.coherent", 0, 1};
    if ((wanted & completes::in_entry) != 0)
      return d.can_poll_msi(address) ? refusal{} : refusal{status::out_of_range, "device_address", address, bytes};
    if (words == 0) return {status::out_of_range, "done_address", words, words_bytes};  // MSIADDR = 0: no MSI
    if (words >= reach || words_bytes > reach - words)
      return {status::out_of_range, "done_address", words, reach < words_bytes ? 0 : reach - words_bytes};
    return {};
  }

  // --- 5. bring-up: smmuv3::device
  template <class D>
  static constexpr bool drives = device_type<D>;
};

static_assert(device_family<family>);

}  // namespace cmdq::smmuv3

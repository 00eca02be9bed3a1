// SPDX-License-Identifier: BSL-1.0
// What a device can do, as far as a queue must know it to refuse what cannot work, and the check of one command
// against it. smmuv3::fit() fills it in from the identification registers.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq {

/// Opcodes, one bit each. All of them at first.
struct opcode_set {
  uint64_t bits[4] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};

  [[nodiscard]] constexpr bool has(uint8_t op) const noexcept { return ((bits[op >> 6] >> (op & 63U)) & 1U) != 0; }
  constexpr void remove(uint8_t op) noexcept { bits[op >> 6] &= ~(uint64_t{1} << (op & 63U)); }
  [[nodiscard]] constexpr bool all() const noexcept { return (bits[0] & bits[1] & bits[2] & bits[3]) == ~uint64_t{0}; }
  friend constexpr bool operator==(const opcode_set&, const opcode_set&) = default;
};

/// The defaults believe the user: nothing is refused that some device could do. A device address has at most 52 bits.
struct device_limits {
  static constexpr uint8_t most_output_bits = 52;

  bool msi = true;       ///< IDR0.MSI: a CMD_SYNC can write to memory
  bool coherent = true;  ///< IDR0.COHACC: what the device writes is seen by the CPUs without more ado
  bool event = true;     ///< a CMD_SYNC may signal an event
  bool range = true;     ///< IDR3.RIL: TLBI with NUM, SCALE, TTL and TG
  /// completion::automatic starts by polling CMDQ_CONS. fit() leaves it only where that is known to be the faster way.
  bool prefer_cons = true;
  uint8_t output_bits = most_output_bits;  ///< IDR5.OAS: bits of a device address
  uint8_t asid_bits = 16;                  ///< IDR0.ASID16: 16 or 8
  uint8_t vmid_bits = 16;                  ///< IDR0.VMID16: 16 or 8
  opcode_set opcodes;                      ///< what may be issued

  /// Can a CMD_SYNC of a ring at this device address be polled by its own MSI? MSIADDR = 0 means "no MSI" to the
  /// device, so a ring there could never see the one of its first entry.
  [[nodiscard]] constexpr bool can_poll_msi(uint64_t ring_address) const noexcept {
    return msi && coherent && ring_address != 0;
  }
  /// Does permits() refuse anything?
  [[nodiscard]] constexpr bool restricts_commands() const noexcept {
    return !range || asid_bits < 16 || vmid_bits < 16 || !opcodes.all();
  }
  friend constexpr bool operator==(const device_limits&, const device_limits&) = default;
};

/// Why this device must not be given the command; status::ok when it may. Errors: invalid_argument "opcode" (it is not
/// the queue's to issue), invalid_argument with the bits that are reserved for want of IDR3.RIL, out_of_range "asid" or
/// "vmid" with the largest value as limit (an 8-bit ASID: 255). Pure; a few shifts. TLBI encoding: VMID is word 0
/// 47:32, ASID 63:48, NUM 16:12, SCALE 24:20, TTL and TG word 1 11:8; what an opcode does not have is reserved there
/// and 0.
constexpr refusal permits(const device_limits& d, const command& c) noexcept {
  const uint64_t w = c.word[0];
  const uint8_t op = opcode_of(w);
  if (!d.opcodes.has(op)) return {status::invalid_argument, "opcode", op, 0};
  if (class_of(w) != command_class::tlb) return {};
  const uint64_t vmid = (w >> 32) & 0xffffU;
  if (vmid >> d.vmid_bits != 0) return {status::out_of_range, "vmid", vmid, (uint64_t{1} << d.vmid_bits) - 1};
  const uint64_t asid = w >> 48;
  if (asid >> d.asid_bits != 0) return {status::out_of_range, "asid", asid, (uint64_t{1} << d.asid_bits) - 1};
  if (d.range) return {};
  constexpr uint64_t num_and_scale = (uint64_t{0x1f} << 12) | (uint64_t{0x1f} << 20);
  constexpr uint64_t ttl_and_tg = uint64_t{0xf} << 8;
  if ((w & num_and_scale) != 0) return {status::invalid_argument, "num and scale", w & num_and_scale, 0};
  const uint64_t hint = c.word[1] & ttl_and_tg;
  return hint == 0 ? refusal{} : refusal{status::invalid_argument, "ttl and tg", hint, 0};
}

}  // namespace cmdq

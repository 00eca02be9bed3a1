// SPDX-License-Identifier: BSL-1.0
// The little that a queue must know of SMMUv3's encoding: how a CMD_SYNC is written and which commands only a CMD_SYNC
// can report errors of. Opcode: word 0, bits 7:0. Typed commands are in commands.hpp.
#pragma once

#include <cmdq/core/command.hpp>

namespace cmdq {

constexpr uint8_t opcode_of(uint64_t word0) noexcept { return static_cast<uint8_t>(word0); }

inline constexpr uint8_t opcode_sync = 0x46;
inline constexpr uint8_t opcode_atc_inv = 0x40;

/// A copy that is read once. An opcode 0 with an operand could be taken for a CMD_SYNC that its MSI has zeroed: it
/// loses the operand, and is as illegal without.
[[gnu::always_inline]] inline command own_copy(const command& from) noexcept {
  command c = copy_once(from);
  if (static_cast<uint32_t>(c.word[0]) == 0) c.word[1] = 0;
  return c;
}

/// Class by opcode: PREFETCH and CFGI, TLBI, ATC_INV, PRI_RESP / RESUME / STALL_TERM, CMD_SYNC.
constexpr command_class class_of(uint64_t word0) noexcept {
  const uint8_t op = opcode_of(word0);
  if (op == opcode_sync) return command_class::sync;
  if (op >= 0x01 && op <= 0x06) return command_class::configuration;
  if (op >= 0x10 && op <= 0x30) return command_class::tlb;
  if (op == opcode_atc_inv) return command_class::atc;
  if (op == 0x41 || op == 0x44 || op == 0x45) return command_class::page_request;
  return command_class::unknown;
}

/// How a CMD_SYNC signals: CS field, word 0 bits 13:12 (3 is reserved: CERROR_ILL).
enum class sync_signal : uint8_t { none = 0, msi = 1, event = 2 };

/// CMD_SYNC that signals nothing or an event. Legal on every implementation with `none` (Tegra241 allows only that).
constexpr command make_sync(sync_signal cs) noexcept { return {{opcode_sync | (static_cast<uint64_t>(cs) << 12), 0}}; }

/// Is word 0 that of a CMD_SYNC which signals by an MSI? Its own entry as target: no longer once the MSI has come.
constexpr bool is_msi_sync(uint64_t word0) noexcept { return (word0 & 0x30ffU) == (opcode_sync | (1U << 12)); }

/// CMD_SYNC whose completion writes `data` to `address` (device address, 4-byte aligned), inner shareable, write-back.
constexpr command make_msi_sync(uint64_t address, uint32_t data) noexcept {
  const uint64_t inner_shareable = 3ULL << 22;
  const uint64_t write_back = 0xfULL << 24;
  return {{opcode_sync | (1ULL << 12) | inner_shareable | write_back | (static_cast<uint64_t>(data) << 32),
           address & 0x000ffffffffffffcULL}};
}

}  // namespace cmdq

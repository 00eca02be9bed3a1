// SPDX-License-Identifier: BSL-1.0
// Which commands a device accepts: what the encoding allows, less what the device's capabilities exclude. Everything
// else is CERROR_ILL.
#pragma once

#include <stdint.h>

#include <cmdq/core/command.hpp>
#include <cmdq/model/capabilities.hpp>

namespace cmdq::model {

/// Opcodes that exist (SMMUv3 chapter 4), EL3 ones left out: they are illegal on the Non-secure queue.
constexpr bool known_opcode(uint8_t op) noexcept {
  return (op >= 0x01 && op <= 0x06) || (op >= 0x10 && op <= 0x13) || (op >= 0x20 && op <= 0x23) || op == 0x28 ||
         op == 0x2a || op == 0x30 || op == 0x40 || op == 0x41 || (op >= 0x44 && op <= 0x46);
}

constexpr bool accepted(const command& c, const capabilities& caps) noexcept {
  const uint8_t op = opcode_of(c.word[0]);
  if (!known_opcode(op)) return false;
  if (op == opcode_sync) {
    const unsigned cs = (c.word[0] >> 12) & 3U;
    return cs != 3 && (cs == 0 || !caps.only_cs0);
  }
  if (op <= 0x02) return caps.prefetch;
  if (op == opcode_atc_inv) return caps.ats;
  if (op == 0x41) return caps.pri;
  return (op < 0x20 || op > 0x23) || caps.hyp;
}

}  // namespace cmdq::model

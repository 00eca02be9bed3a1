// SPDX-License-Identifier: BSL-1.0
// Which commands a device accepts: what the encoding allows, less what the device's capabilities exclude. Everything
// else is CERROR_ILL.
#pragma once

#include <cmdq/model/capabilities.hpp>
#include <cmdq/smmuv3/codec.hpp>

namespace cmdq::model {

/// False: CERROR_ILL. Source: smmuv3::legal(), the
/// part's quirks, and the identification bits that make a command or a field reserved.
constexpr bool accepted(const command& c, const capabilities& caps) noexcept {
  using smmuv3::field;
  using smmuv3::opcode;
  if (!smmuv3::legal(c) || !smmuv3::accepts(caps.part, c)) return false;
  switch (static_cast<opcode>(opcode_of(c.word[0]))) {
    case opcode::atc_inv:
      return caps.ats;
    case opcode::pri_resp:
      return caps.pri;
    case opcode::tlbi_el2_all:
    case opcode::tlbi_el2_asid:
      return caps.hyp;
    case opcode::tlbi_el2_va:
      if (!caps.hyp) return false;
      break;
    case opcode::tlbi_nh_va:
    case opcode::tlbi_nh_vaa:
    case opcode::tlbi_s2_ipa:
      break;
    default:
      return true;
  }
  if (caps.ril) return true;
  const smmuv3::any_command any = *smmuv3::decode(c);
  return (any.get(field::num) | any.get(field::scale) | any.get(field::ttl) | any.get(field::tg)) == 0;
}

}  // namespace cmdq::model

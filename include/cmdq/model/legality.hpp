// SPDX-License-Identifier: BSL-1.0
// Which commands a device accepts: what the encoding allows, less what the device's capabilities exclude. Everything
// else is CERROR_ILL.
#pragma once

#include <cmdq/model/capabilities.hpp>
#include <cmdq/smmuv3/codec.hpp>

namespace cmdq::model {

/// Fields that are wider than, or exist only with, what the identification registers say: reserved bits otherwise.
constexpr bool fields_exist(const command& c, const capabilities& caps) noexcept {
  using smmuv3::field;
  const auto any = smmuv3::decode(c);
  if (!any) return true;  // RESUME with RESP = 3: has none of these
  if (!caps.asid16 && any->get(field::asid) > 0xff) return false;
  if (!caps.vmid16 && any->get(field::vmid) > 0xff) return false;
  return caps.ril || (any->get(field::num) | any->get(field::scale) | any->get(field::ttl) | any->get(field::tg)) == 0;
}

/// False: CERROR_ILL. Source: smmuv3::legal(), the part's quirks, and the identification bits that make a command or a
/// field reserved.
constexpr bool accepted(const command& c, const capabilities& caps) noexcept {
  using smmuv3::opcode;
  if (!smmuv3::legal(c) || !smmuv3::accepts(caps.part, c)) return false;
  switch (static_cast<opcode>(opcode_of(c.word[0]))) {
    case opcode::atc_inv:
      return caps.ats;
    case opcode::pri_resp:
      return caps.pri;
    case opcode::tlbi_el2_all:
    case opcode::tlbi_el2_asid:
    case opcode::tlbi_el2_va:
      return caps.hyp && fields_exist(c, caps);
    default:
      return fields_exist(c, caps);
  }
}

}  // namespace cmdq::model

// SPDX-License-Identifier: BSL-1.0
// What a modelled device can do, as the user sets it; its identification registers are derived from it.
#pragma once

#include <cmdq/smmuv3/quirks.hpp>
#include <cmdq/smmuv3/registers.hpp>

namespace cmdq::model {

/// Which implementation the device is. Field names are those of SMMUv3 IDR0, IDR1 and IDR3.
struct capabilities {
  uint8_t cmdqs = 19;     ///< IDR1.CMDQS: largest CMDQ_BASE.LOG2SIZE, 0..19
  bool cohacc = true;     ///< IDR0.COHACC: the device fetches coherently
  bool ats = true;        ///< IDR0.ATS: without it ATC_INV is CERROR_ILL
  bool pri = true;        ///< IDR0.PRI: without it PRI_RESP is CERROR_ILL
  bool msi = true;        ///< IDR0.MSI: without it a CMD_SYNC with CS = 1 pulses the wired interrupt
  bool sev = true;        ///< IDR0.SEV: without it a CMD_SYNC with CS = 2 signals nothing
  bool hyp = true;        ///< IDR0.HYP: without it the EL2 invalidations are CERROR_ILL
  bool ril = true;        ///< IDR3.RIL: without it NUM, SCALE, TTL and TG are reserved bits
  bool asid16 = true;     ///< IDR0.ASID16
  bool vmid16 = true;     ///< IDR0.VMID16
  uint32_t iidr = 0x43b;  ///< implementer 11:0 (0x43b: Arm), revision 15:12, variant 19:16, product 31:20
  smmuv3::quirks part{};  ///< where it differs from the architecture
};

/// IDR0: stage 1 and 2, AArch64 tables, little-endian, two-level stream table, and what `c` says.
constexpr uint32_t idr0(const capabilities& c) noexcept {
  namespace f = smmuv3::registers::idr0;
  uint32_t v = f::s2p.mask() | f::s1p.mask() | f::ttf.set(0, 2) | f::ttendian.set(0, 2) | f::st_lvl.set(0, 1);
  const auto put = [&v](const smmuv3::registers::bits32& bit, bool on) { v |= on ? bit.mask() : 0U; };
  put(f::cohacc, c.cohacc);
  put(f::hyp, c.hyp);
  put(f::ats, c.ats);
  put(f::asid16, c.asid16);
  put(f::msi, c.msi);
  put(f::sev, c.sev);
  put(f::pri, c.pri);
  put(f::vmid16, c.vmid16);
  return v;
}

/// IDR1: 16-bit stream ids, event and PRI queues of up to 2^19 entries, CMDQS as given.
constexpr uint32_t idr1(const capabilities& c) noexcept {
  namespace f = smmuv3::registers::idr1;
  return f::sidsize.set(0, 16) | f::priqs.set(0, 19) | f::evtqs.set(0, 19) | f::cmdqs.set(0, c.cmdqs);
}

/// IDR3.
constexpr uint32_t idr3(const capabilities& c) noexcept { return smmuv3::registers::idr3::ril.set(0, c.ril ? 1U : 0U); }

/// IDR5: 48-bit output addresses, granules of 4, 16 and 64 KiB.
constexpr uint32_t idr5() noexcept {
  namespace f = smmuv3::registers::idr5;
  return f::oas.set(0, 5) | f::gran4k.mask() | f::gran16k.mask() | f::gran64k.mask();
}

}  // namespace cmdq::model

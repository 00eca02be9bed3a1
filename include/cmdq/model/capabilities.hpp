// SPDX-License-Identifier: BSL-1.0
// What a modelled device can do, as the user sets it; its identification registers are derived from it.
#pragma once

#include <stdint.h>

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
  bool prefetch = true;   ///< false: PREFETCH commands are CERROR_ILL (HiSilicon 161x)
  bool only_cs0 = false;  ///< true: CMD_SYNC with CS != 0 is CERROR_ILL (Tegra241 CMDQV, guest-owned queue)
  uint32_t iidr = 0x43b;  ///< implementer 11:0 (0x43b: Arm), revision 15:12, variant 19:16, product 31:20
};

/// IDR0 (offset 0x00): stage 1 and 2, AArch64 tables, little-endian, two-level stream table, and what `c` says.
constexpr uint32_t idr0(const capabilities& c) noexcept {
  uint32_t v = 1U << 0 | 1U << 1 | 2U << 2 | 2U << 21 | 1U << 27;
  v |= static_cast<uint32_t>(c.cohacc) << 4 | static_cast<uint32_t>(c.hyp) << 9 | static_cast<uint32_t>(c.ats) << 10;
  v |= static_cast<uint32_t>(c.asid16) << 12 | static_cast<uint32_t>(c.msi) << 13 | static_cast<uint32_t>(c.sev) << 14;
  v |= static_cast<uint32_t>(c.pri) << 16 | static_cast<uint32_t>(c.vmid16) << 18;
  return v;
}

/// IDR1 (offset 0x04): 16-bit stream ids, event and PRI queues of up to 2^19 entries, CMDQS as given.
constexpr uint32_t idr1(const capabilities& c) noexcept {
  return 16U | 19U << 11 | 19U << 16 | static_cast<uint32_t>(c.cmdqs & 0x1fU) << 21;
}

/// IDR3 (offset 0x0c).
constexpr uint32_t idr3(const capabilities& c) noexcept { return static_cast<uint32_t>(c.ril) << 10; }

/// IDR5 (offset 0x14): 48-bit output addresses, granules of 4, 16 and 64 KiB.
constexpr uint32_t idr5() noexcept { return 5U | 7U << 4; }

}  // namespace cmdq::model

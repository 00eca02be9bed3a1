// SPDX-License-Identifier: BSL-1.0
// A RISC-V IOMMU's commands by name, and typed ones for what drivers issue.
#pragma once

#include <cmdq/core/layout.hpp>
#include <cmdq/riscv/wire.hpp>

namespace cmdq::riscv {

inline constexpr command_layout layouts[] = {
    {"iotinval_vma",
     kind_mask,
     kinds::iotinval_vma,
     {{"av", 0, 10, 10},
      {"pscid", 0, 31, 12},
      {"pscv", 0, 32, 32},
      {"gv", 0, 33, 33},
      {"nl", 0, 34, 34},
      {"gscid", 0, 59, 44},
      {"s", 1, 9, 9},
      {"addr", 1, 61, 10, 12}}},
    {"iotinval_gvma",
     kind_mask,
     kinds::iotinval_gvma,
     {{"av", 0, 10, 10},
      {"pscid", 0, 31, 12},
      {"pscv", 0, 32, 32},
      {"gv", 0, 33, 33},
      {"nl", 0, 34, 34},
      {"gscid", 0, 59, 44},
      {"s", 1, 9, 9},
      {"addr", 1, 61, 10, 12}}},
    {"iofence_c",
     kind_mask,
     kinds::iofence_c,
     {{"av", 0, 10, 10},
      {"wsi", 0, 11, 11},
      {"pr", 0, 12, 12},
      {"pw", 0, 13, 13},
      {"data", 0, 63, 32},
      {"addr", 1, 61, 0, 2}}},
    {"iodir_inval_ddt", kind_mask, kinds::iodir_ddt, {{"pid", 0, 31, 12}, {"dv", 0, 33, 33}, {"did", 0, 63, 40}}},
    {"iodir_inval_pdt", kind_mask, kinds::iodir_pdt, {{"pid", 0, 31, 12}, {"dv", 0, 33, 33}, {"did", 0, 63, 40}}},
    {"ats_inval",
     kind_mask,
     kinds::ats_inval,
     {{"pid", 0, 31, 12},
      {"pv", 0, 32, 32},
      {"dsv", 0, 33, 33},
      {"rid", 0, 55, 40},
      {"dseg", 0, 63, 56},
      {"payload", 1, 63, 0}}},
    {"ats_prgr",
     kind_mask,
     kinds::ats_prgr,
     {{"pid", 0, 31, 12},
      {"pv", 0, 32, 32},
      {"dsv", 0, 33, 33},
      {"rid", 0, 55, 40},
      {"dseg", 0, 63, 56},
      {"payload", 1, 63, 0}}},
};

/// Fields of `c` by name. Errors: see decode_described().
constexpr result<described> decode(const command& c) noexcept { return decode_described<2>(layouts, c); }

/// True when an IOMMU that checks all it may check executes `c`, fctl.WSI = 0: known, no reserved bits, no PSCID in a
/// guest's invalidation, no wired interrupt, a device for INVAL_PDT.
constexpr bool legal(const command& c) noexcept {
  const auto d = decode(c);
  if (!d) return false;
  switch (kind_of(c.word[0])) {
    case kinds::iotinval_gvma:
      return d->get("pscv") == 0;
    case kinds::iofence_c:
      return d->get("wsi") == 0;
    case kinds::iodir_pdt:
      return d->get("dv") == 1;
    default:
      return true;
  }
}

/// A page of an address space, or all of it; without `pscv` and `gv` of every one.
struct iotinval_vma {
  bool page = false;
  uint64_t addr = 0;
  bool pscv = false;
  uint32_t pscid = 0;
  bool gv = false;
  uint16_t gscid = 0;
};
struct iodir_inval_ddt {
  bool dv = false;  ///< false: all devices
  uint32_t did = 0;
};
struct ats_inval {
  uint16_t rid = 0;
  uint64_t payload = 0;  ///< as ATS has it: address, S, global
};

/// Errors: misaligned "addr" (4096), out_of_range "pscid".
constexpr result<command> encode(const iotinval_vma& c) noexcept {
  if (c.addr % 4096 != 0) return refusal{status::misaligned, "addr", c.addr, 4096};
  if (c.pscid > 0xfffff) return refusal{status::out_of_range, "pscid", c.pscid, 0xfffff};
  return command{{kinds::iotinval_vma | uint64_t{c.page} << 10 | uint64_t{c.pscid} << 12 | uint64_t{c.pscv} << 32 |
                      uint64_t{c.gv} << 33 | uint64_t{c.gscid} << 44,
                  c.page ? c.addr >> 12 << 10 : 0}};
}
/// Errors: out_of_range "did" (24 bits).
constexpr result<command> encode(const iodir_inval_ddt& c) noexcept {
  if (c.did > 0xffffff) return refusal{status::out_of_range, "did", c.did, 0xffffff};
  return command{{kinds::iodir_ddt | uint64_t{c.dv} << 33 | uint64_t{c.did} << 40, 0}};
}
constexpr result<command> encode(const ats_inval& c) noexcept {
  return command{{kinds::ats_inval | uint64_t{c.rid} << 40, c.payload}};
}

/// How many invalidations [addr, addr + bytes) takes: one per page, or 1 for the whole space where that is more than
/// `most` (the IOMMU has no ranges of its own), or the range wraps or is empty.
constexpr uint64_t pages_or_all(uint64_t addr, uint64_t bytes, uint64_t most) noexcept {
  if (bytes == 0 || addr + (bytes - 1) < addr) return 1;
  const uint64_t pages = ((addr + (bytes - 1)) >> 12) - (addr >> 12) + 1;
  return pages > most ? 1 : pages;
}

}  // namespace cmdq::riscv

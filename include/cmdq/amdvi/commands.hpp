// SPDX-License-Identifier: BSL-1.0
// An AMD IOMMU's commands by name, and typed ones for what drivers issue. COMPLETION_WAIT and INVALIDATE_IOMMU_PAGES as
// drivers and emulators have them; of the others the fields that were read are named, and `rest` is what remains.
#pragma once

#include <cmdq/amdvi/wire.hpp>
#include <cmdq/core/layout.hpp>

namespace cmdq::amdvi {

inline constexpr command_layout layouts[] = {
    {"completion_wait",
     opcode_mask,
     with_opcode(opcode::completion_wait),
     {{"s", 0, 0, 0}, {"i", 0, 1, 1}, {"f", 0, 2, 2}, {"addr", 0, 51, 3, 3}, {"data", 1, 63, 0}}},
    {"invalidate_devtab_entry", opcode_mask, with_opcode(opcode::inv_devtab_entry), {{"devid", 0, 15, 0}}},
    {"invalidate_iommu_pages",
     opcode_mask,
     with_opcode(opcode::inv_iommu_pages),
     {{"pasid", 0, 19, 0},
      {"domid", 0, 47, 32},
      {"s", 1, 0, 0},
      {"pde", 1, 1, 1},
      {"gn", 1, 2, 2},
      {"addr", 1, 63, 12, 12}}},
    {"invalidate_iotlb_pages",
     opcode_mask,
     with_opcode(opcode::inv_iotlb_pages),
     {{"devid", 0, 15, 0}, {"rest", 0, 59, 16}, {"s", 1, 0, 0}, {"rest1", 1, 11, 1}, {"addr", 1, 63, 12, 12}}},
    {"invalidate_interrupt_table", opcode_mask, with_opcode(opcode::inv_interrupt_table), {{"devid", 0, 15, 0}}},
    {"prefetch_iommu_pages",
     opcode_mask,
     with_opcode(opcode::prefetch_iommu_pages),
     {{"rest", 0, 59, 0}, {"rest1", 1, 63, 0}}},
    {"complete_ppr_request",
     opcode_mask,
     with_opcode(opcode::complete_ppr_request),
     {{"rest", 0, 59, 0}, {"rest1", 1, 63, 0}}},
    {"invalidate_iommu_all", opcode_mask, with_opcode(opcode::inv_iommu_all), {}},
};

/// Fields of `c` by name. Errors: see decode_described().
constexpr result<described> decode(const command& c) noexcept { return decode_described<2>(layouts, c); }

/// True when an IOMMU that checks all it may check executes `c`: known, and no reserved bits (old bits left in a slot
/// are reported to raise ILLEGAL_COMMAND_ERROR: FreeBSD D53692).
constexpr bool legal(const command& c) noexcept { return decode(c).ok(); }

struct invalidate_devtab_entry {
  uint16_t devid = 0;
};
struct invalidate_iommu_pages {
  uint16_t domid = 0;
  uint64_t addr = 0;  ///< with `s`: the size is in its lowest zero bit
  bool s = false;
  bool pde = true;  ///< upper levels of the tables, too
};
struct invalidate_interrupt_table {
  uint16_t devid = 0;
};
struct invalidate_iommu_all {};

constexpr result<command> encode(const invalidate_devtab_entry& c) noexcept {
  return command{{with_opcode(opcode::inv_devtab_entry) | c.devid, 0}};
}
/// Errors: misaligned "addr" (4096).
constexpr result<command> encode(const invalidate_iommu_pages& c) noexcept {
  if (c.addr % 4096 != 0) return refusal{status::misaligned, "addr", c.addr, 4096};
  return command{
      {with_opcode(opcode::inv_iommu_pages) | uint64_t{c.domid} << 32, c.addr | (c.s ? 1U : 0U) | (c.pde ? 2U : 0U)}};
}
constexpr result<command> encode(const invalidate_interrupt_table& c) noexcept {
  return command{{with_opcode(opcode::inv_interrupt_table) | c.devid, 0}};
}
constexpr result<command> encode(const invalidate_iommu_all&) noexcept {
  return command{{with_opcode(opcode::inv_iommu_all), 0}};
}

/// The smallest invalidation that covers [addr, addr + bytes): with S set, the lowest 0 at or above bit 12 of the
/// address field gives the size, 2^(its number + 1). Where the range wraps or is empty, everything of the domain.
constexpr command cover(uint16_t domid, uint64_t addr, uint64_t bytes) noexcept {
  constexpr uint64_t everything = 0x7ffffffffffff000ULL;
  if (bytes == 0 || addr + (bytes - 1) < addr)
    return *encode(invalidate_iommu_pages{.domid = domid, .addr = everything, .s = true});
  const uint64_t first = addr >> 12;
  const uint64_t last = (addr + (bytes - 1)) >> 12;
  unsigned log2 = 0;
  while (first >> log2 != last >> log2) ++log2;
  if (log2 == 0) return *encode(invalidate_iommu_pages{.domid = domid, .addr = first << 12});
  if (log2 >= 51) return *encode(invalidate_iommu_pages{.domid = domid, .addr = everything, .s = true});
  const uint64_t ones = (uint64_t{1} << (log2 - 1)) - 1;
  const uint64_t pages = (first >> log2 << log2) | ones;
  return *encode(invalidate_iommu_pages{.domid = domid, .addr = pages << 12, .s = true});
}

}  // namespace cmdq::amdvi

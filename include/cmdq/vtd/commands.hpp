// SPDX-License-Identifier: BSL-1.0
// VT-d's descriptors by name, and typed ones for what drivers issue. Encoding of types 1 to 5: as drivers and emulators
// have it (see facts in README.md); 6 to 8 as commonly documented, met in no recorded stream so far.
#pragma once

#include <cmdq/core/layout.hpp>
#include <cmdq/vtd/wire.hpp>

namespace cmdq::vtd {

inline constexpr command_layout layouts[] = {
    {"context_cache",
     type_mask,
     type::context_cache,
     {{"g", 0, 5, 4}, {"did", 0, 31, 16}, {"sid", 0, 47, 32}, {"fm", 0, 49, 48}}},
    {"iotlb",
     type_mask,
     type::iotlb,
     {{"g", 0, 5, 4},
      {"dw", 0, 6, 6},
      {"dr", 0, 7, 7},
      {"did", 0, 31, 16},
      {"am", 1, 5, 0},
      {"ih", 1, 6, 6},
      {"addr", 1, 63, 12, 12}}},
    {"device_tlb",
     type_mask,
     type::device_tlb,
     {{"pfsid_low", 0, 15, 12},
      {"mip", 0, 20, 16},
      {"sid", 0, 47, 32},
      {"pfsid_high", 0, 63, 52},
      {"s", 1, 0, 0},
      {"addr", 1, 63, 12, 12}}},
    {"interrupt_cache", type_mask, type::interrupt_cache, {{"g", 0, 4, 4}, {"im", 0, 31, 27}, {"index", 0, 47, 32}}},
    {"wait",
     type_mask,
     type::wait,
     {{"if", 0, 4, 4}, {"sw", 0, 5, 5}, {"fn", 0, 6, 6}, {"pd", 0, 7, 7}, {"data", 0, 63, 32}, {"addr", 1, 63, 2, 2}}},
    {"pasid_iotlb",
     type_mask,
     type::pasid_iotlb,
     {{"g", 0, 5, 4},
      {"did", 0, 31, 16},
      {"pasid", 0, 51, 32},
      {"am", 1, 5, 0},
      {"ih", 1, 6, 6},
      {"addr", 1, 63, 12, 12}}},
    {"pasid_cache", type_mask, type::pasid_cache, {{"g", 0, 5, 4}, {"did", 0, 31, 16}, {"pasid", 0, 51, 32}}},
    {"pasid_device_tlb",
     type_mask,
     type::pasid_device_tlb,
     {{"mip", 0, 8, 4},
      {"pfsid_low", 0, 15, 12},
      {"sid", 0, 31, 16},
      {"pasid", 0, 51, 32},
      {"pfsid_high", 0, 63, 52},
      {"g", 1, 0, 0},
      {"s", 1, 11, 11},
      {"addr", 1, 63, 12, 12}}},
};

/// Fields of `c` by name. Errors: see decode_described().
constexpr result<described> decode(const command& c) noexcept { return decode_described<2>(layouts, c); }

/// True when a unit that checks all it may check executes `c`: a known type, no reserved bits, a granularity that
/// exists, and a wait that does something.
constexpr bool legal(const command& c) noexcept {
  const auto d = decode(c);
  if (!d) return false;
  switch (type_of(c.word[0])) {
    case type::context_cache:
    case type::iotlb:
      return d->get("g") != 0;
    case type::wait:
      return d->get("if") + d->get("sw") == 1;
    default:
      return true;
  }
}

/// All of the IOTLB, a domain's part, or 2^am pages of it from an address aligned to that.
struct iotlb_global {
  bool drain = true;
};
struct iotlb_domain {
  uint16_t did = 0;
  bool drain = true;
};
struct iotlb_pages {
  uint16_t did = 0;
  uint64_t addr = 0;
  uint8_t am = 0;     ///< log2 of 4 KiB pages; at most CAP.MAMV
  bool leaf = false;  ///< IH: upper levels of the tables have not changed
  bool drain = true;
};
/// A requester's context entry, or all of a domain's.
struct context_cache_device {
  uint16_t did = 0;
  uint16_t sid = 0;
};
struct context_cache_domain {
  uint16_t did = 0;
};
struct interrupt_cache_all {};
/// 2^im entries from `index`.
struct interrupt_cache_entries {
  uint16_t index = 0;
  uint8_t im = 0;
};
/// A requester's own TLB.
struct device_tlb {
  uint16_t sid = 0;
  uint64_t addr = 0;
  bool s = false;  ///< the size is in the address, as for an ATC
};

/// DW and DR: reads and writes that met the old translation are done.
constexpr uint64_t drains(bool drain) noexcept { return drain ? 3U << 6 : 0U; }

constexpr result<command> encode(const iotlb_global& c) noexcept {
  return command{{type::iotlb | 1U << 4 | drains(c.drain), 0}};
}
constexpr result<command> encode(const iotlb_domain& c) noexcept {
  return command{{type::iotlb | 2U << 4 | drains(c.drain) | uint64_t{c.did} << 16, 0}};
}
/// Errors: out_of_range "am" (limit 51), misaligned "addr" (limit: the size of the range).
constexpr result<command> encode(const iotlb_pages& c) noexcept {
  if (c.am > 51) return refusal{status::out_of_range, "am", c.am, 51};
  const uint64_t bytes = uint64_t{4096} << c.am;
  if (c.addr % bytes != 0) return refusal{status::misaligned, "addr", c.addr, bytes};
  return command{
      {type::iotlb | 3U << 4 | drains(c.drain) | uint64_t{c.did} << 16, c.addr | c.am | (c.leaf ? 1U << 6 : 0U)}};
}
constexpr result<command> encode(const context_cache_device& c) noexcept {
  return command{{type::context_cache | 3U << 4 | uint64_t{c.did} << 16 | uint64_t{c.sid} << 32, 0}};
}
constexpr result<command> encode(const context_cache_domain& c) noexcept {
  return command{{type::context_cache | 2U << 4 | uint64_t{c.did} << 16, 0}};
}
constexpr result<command> encode(const interrupt_cache_all&) noexcept { return command{{type::interrupt_cache, 0}}; }
/// Errors: out_of_range "im" (limit 31).
constexpr result<command> encode(const interrupt_cache_entries& c) noexcept {
  if (c.im > 31) return refusal{status::out_of_range, "im", c.im, 31};
  return command{{type::interrupt_cache | 1U << 4 | uint64_t{c.im} << 27 | uint64_t{c.index} << 32, 0}};
}
/// Errors: misaligned "addr" (limit 4096).
constexpr result<command> encode(const device_tlb& c) noexcept {
  if (c.addr % 4096 != 0) return refusal{status::misaligned, "addr", c.addr, 4096};
  return command{{type::device_tlb | uint64_t{c.sid} << 32, c.addr | (c.s ? 1U : 0U)}};
}

/// The smallest page-selective invalidation that covers [addr, addr + bytes): its size is a power of two, as the
/// address mask has it. `mamv`: largest mask of the unit (CAP.MAMV); where that is too small, or the range wraps or is
/// empty, the whole domain.
constexpr command cover(uint16_t did, uint64_t addr, uint64_t bytes, uint8_t mamv, bool leaf) noexcept {
  const command all = *encode(iotlb_domain{.did = did});
  if (bytes == 0 || addr + (bytes - 1) < addr) return all;
  const uint64_t first = addr >> 12;
  const uint64_t last = (addr + (bytes - 1)) >> 12;
  uint8_t am = 0;
  while (first >> am != last >> am) ++am;
  if (am > mamv || am > 51) return all;
  return *encode(iotlb_pages{.did = did, .addr = (first >> am) << am << 12, .am = am, .leaf = leaf});
}

}  // namespace cmdq::vtd

// SPDX-License-Identifier: BSL-1.0
// What else a device caches: stream table entries, context descriptors, and the translations that PCIe devices keep in
// their own caches (ATC); and one object that holds them all and takes any command.
#pragma once

#include <stdint.h>

#include <cmdq/model/iotlb.hpp>

namespace cmdq::model {

/// A cached configuration structure.
struct configuration_entry {
  enum class kind : uint8_t { stream_table, stream, context_table, context };
  kind what = kind::stream;
  uint32_t sid = 0;
  uint32_t ssid = 0;  ///< contexts only
  friend constexpr bool operator==(const configuration_entry&, const configuration_entry&) = default;
};

/// True when a CFGI command drops the entry. A stream's entry takes everything reached through it along; the tables
/// above it go only with LEAF = 0.
constexpr bool invalidates(const smmuv3::any_command& c, const configuration_entry& e) noexcept {
  using kind = configuration_entry::kind;
  using smmuv3::field;
  using smmuv3::opcode;
  const bool sid = e.sid == c.get(field::sid);
  const bool leaf_only = c.get(field::leaf) != 0;
  switch (c.op) {
    case opcode::cfgi_ste:
      return sid && (e.what != kind::stream_table || !leaf_only);
    case opcode::cfgi_ste_range: {
      const uint64_t count = 2ULL << c.get(field::range);  // 2^32 for RANGE = 31: 64 bits
      const uint64_t first = c.get(field::sid) & ~(count - 1);
      return e.sid >= first && e.sid < first + count;
    }
    case opcode::cfgi_cd:
      if (e.what == kind::context_table) return sid && !leaf_only;
      return e.what == kind::context && sid && e.ssid == c.get(field::ssid);
    case opcode::cfgi_cd_all:
      return sid && (e.what == kind::context || e.what == kind::context_table);
    default:
      return false;
  }
}

/// A translation in a PCIe device's cache: 2^log2_pages pages of 4 KiB.
struct atc_entry {
  uint32_t sid = 0;
  bool has_ssid = false;
  uint32_t ssid = 0;
  uint64_t address = 0;
  uint8_t log2_pages = 0;
  friend constexpr bool operator==(const atc_entry&, const atc_entry&) = default;
};

/// True when ATC_INV drops the entry: same stream, same SSID or GLOBAL, and an address in the 2^SIZE pages around ADDR.
constexpr bool invalidates(const smmuv3::any_command& c, const atc_entry& e) noexcept {
  using smmuv3::field;
  if (c.op != smmuv3::opcode::atc_inv || e.sid != c.get(field::sid)) return false;
  const bool same_context = e.has_ssid == (c.get(field::ssv) != 0) && (!e.has_ssid || e.ssid == c.get(field::ssid));
  if (!same_context && (c.get(field::global) == 0 || !e.has_ssid)) return false;
  const uint64_t size = c.get(field::size);
  const uint64_t larger = size > e.log2_pages ? size : e.log2_pages;
  return larger >= 52 || ((c.get(field::addr) ^ e.address) >> (12 + larger)) == 0;
}

/// All caches of a device and of the devices behind it. Use as `hooks.effect(c) { caches.apply(c); }`.
template <uint32_t Capacity = 256>
struct device_caches {
  iotlb<Capacity> tlb;
  cache<configuration_entry, Capacity> configuration;
  cache<atc_entry, Capacity> atc;
  bool e2h = false;

  /// Applies an accepted command; returns how many entries it dropped.
  uint32_t apply(const command& raw) noexcept {
    const result<smmuv3::any_command> c = smmuv3::decode(raw);
    if (!c) return 0;
    return tlb.apply(*c, e2h) + configuration.drop([&](const configuration_entry& e) { return invalidates(*c, e); }) +
           atc.drop([&](const atc_entry& e) { return invalidates(*c, e); });
  }
};

}  // namespace cmdq::model

// SPDX-License-Identifier: BSL-1.0
// The one table of commands: which fields each opcode has and where. Encoding, decoding, the check of reserved bits,
// the command line and the device model all read it. Source: Arm SMMUv3 specification, chapter 4 "Commands".
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace cmdq::smmuv3 {

enum class opcode : uint8_t {
  prefetch_config = 0x01,
  prefetch_addr = 0x02,
  cfgi_ste = 0x03,
  cfgi_ste_range = 0x04,  ///< with RANGE = 31: CFGI_ALL
  cfgi_cd = 0x05,
  cfgi_cd_all = 0x06,
  tlbi_nh_all = 0x10,
  tlbi_nh_asid = 0x11,
  tlbi_nh_va = 0x12,
  tlbi_nh_vaa = 0x13,
  tlbi_el3_all = 0x18,  ///< illegal on the Non-secure queue
  tlbi_el3_va = 0x1a,   ///< illegal on the Non-secure queue
  tlbi_el2_all = 0x20,
  tlbi_el2_asid = 0x21,
  tlbi_el2_va = 0x22,
  tlbi_s12_vmall = 0x28,
  tlbi_s2_ipa = 0x2a,
  tlbi_nsnh_all = 0x30,
  atc_inv = 0x40,
  pri_resp = 0x41,
  resume = 0x44,
  stall_term = 0x45,
  sync = 0x46,
};

/// Every field that some command has. `count` is their number.
enum class field : uint8_t {
  ssv,
  global,
  ssid,
  sid,
  range,
  size,
  stride,
  grpid,
  resp,
  stag,
  cs,
  msh,
  msiattr,
  msidata,
  msiaddr,
  vmid,
  asid,
  num,
  scale,
  leaf,
  ttl,
  tg,
  addr,
  count,
};
inline constexpr size_t field_count = static_cast<size_t>(field::count);

/// The field's name in lower case, as the command line and error messages use it.
constexpr const char* name(field f) noexcept {
  constexpr const char* names[] = {"ssv",  "global", "ssid",  "sid",  "range",   "size",    "stride",  "grpid",
                                   "resp", "stag",   "cs",    "msh",  "msiattr", "msidata", "msiaddr", "vmid",
                                   "asid", "num",    "scale", "leaf", "ttl",     "tg",      "addr"};
  static_assert(sizeof names / sizeof names[0] == field_count);
  const auto i = static_cast<size_t>(f);
  return i < field_count ? names[i] : "unknown";
}

/// Addresses keep their place: their value is the word with the other bits off, so the bits below `lsb` must be 0.
enum class field_kind : uint8_t { number, identifier, address };

/// Where a field lies (bits msb:lsb of a word, inclusive) and the largest value a command may have there.
struct field_bits {
  field id = field::count;
  uint8_t word = 0;
  uint8_t msb = 0;
  uint8_t lsb = 0;
  field_kind kind = field_kind::number;  ///< numbers read best in decimal, identifiers and addresses in hexadecimal
  uint64_t limit = ~0ULL;                ///< below what the bits can hold when the rest is reserved

  [[nodiscard]] constexpr uint64_t mask() const noexcept { return (~0ULL >> (63U - msb + lsb)) << lsb; }
  [[nodiscard]] constexpr uint64_t max() const noexcept {
    const uint64_t holds = kind == field_kind::address ? mask() : mask() >> lsb;
    return limit < holds ? limit : holds;
  }
  /// What the value must be a multiple of: 1, or a power of two for an address.
  [[nodiscard]] constexpr uint64_t alignment() const noexcept { return kind == field_kind::address ? 1ULL << lsb : 1; }
  [[nodiscard]] constexpr uint64_t get(uint64_t w) const noexcept {
    return kind == field_kind::address ? w & mask() : (w & mask()) >> lsb;
  }
  /// Precondition: value <= max() and a multiple of alignment().
  [[nodiscard]] constexpr uint64_t put(uint64_t value) const noexcept {
    return kind == field_kind::address ? value : value << lsb;
  }
};

/// One opcode: its name and its fields, in the order in which they are printed.
struct layout {
  static constexpr size_t max_fields = 8;
  opcode op = opcode::sync;
  const char* name = "";
  field_bits fields[max_fields] = {};
  size_t count = 0;
  uint32_t has = 0;               ///< bit i: the command has field i
  uint64_t used[2] = {0xffU, 0};  ///< bits of each word that belong to the opcode or to a field

  /// Bits of `word` that must be 0.
  [[nodiscard]] constexpr uint64_t reserved(unsigned word) const noexcept { return ~used[word]; }
  /// Null when the command has no such field.
  [[nodiscard]] constexpr const field_bits* find(field f) const noexcept {
    for (size_t i = 0; i < count; ++i) {
      if (fields[i].id == f) return &fields[i];
    }
    return nullptr;
  }
};

namespace detail {

template <class... F>
constexpr layout make(opcode op, const char* name, F... f) noexcept {
  static_assert(sizeof...(F) <= layout::max_fields && field_count <= 32);
  layout l{op, name, {f...}, sizeof...(F)};
  for (size_t i = 0; i < l.count; ++i) {
    l.has |= 1U << static_cast<unsigned>(l.fields[i].id);
    l.used[l.fields[i].word] |= l.fields[i].mask();
  }
  return l;
}

inline constexpr auto id = field_kind::identifier;
inline constexpr auto address = field_kind::address;

inline constexpr field_bits ssv{field::ssv, 0, 11, 11};
inline constexpr field_bits ssid{field::ssid, 0, 31, 12, id};
inline constexpr field_bits sid{field::sid, 0, 63, 32, id};
inline constexpr field_bits leaf{field::leaf, 1, 0, 0};
inline constexpr field_bits vmid{field::vmid, 0, 47, 32};
inline constexpr field_bits asid{field::asid, 0, 63, 48};
inline constexpr field_bits num{field::num, 0, 16, 12};
inline constexpr field_bits scale{field::scale, 0, 24, 20};
inline constexpr field_bits ttl{field::ttl, 1, 9, 8};
inline constexpr field_bits tg{field::tg, 1, 11, 10};
inline constexpr field_bits va{field::addr, 1, 63, 12, address};
inline constexpr field_bits ipa{field::addr, 1, 51, 12, address};

}  // namespace detail

/// Ordered by opcode. SSec (bit 10) is not a field: it must be 0 on the Non-secure queue. PREFETCH_ADDR's SIZE and
/// STRIDE and all of STALL_TERM but its operand (a stream id) lack confirmation by a primary source.
inline constexpr layout layouts[] = {
    detail::make(opcode::prefetch_config, "PREFETCH_CONFIG", detail::ssv, detail::ssid, detail::sid),
    detail::make(opcode::prefetch_addr, "PREFETCH_ADDR", detail::ssv, detail::ssid, detail::sid,
                 field_bits{field::size, 1, 4, 0}, field_bits{field::stride, 1, 9, 5}, detail::va),
    detail::make(opcode::cfgi_ste, "CFGI_STE", detail::sid, detail::leaf),
    detail::make(opcode::cfgi_ste_range, "CFGI_STE_RANGE", detail::sid, field_bits{field::range, 1, 4, 0}),
    detail::make(opcode::cfgi_cd, "CFGI_CD", detail::ssid, detail::sid, detail::leaf),
    detail::make(opcode::cfgi_cd_all, "CFGI_CD_ALL", detail::sid),
    detail::make(opcode::tlbi_nh_all, "TLBI_NH_ALL", detail::vmid),
    detail::make(opcode::tlbi_nh_asid, "TLBI_NH_ASID", detail::vmid, detail::asid),
    detail::make(opcode::tlbi_nh_va, "TLBI_NH_VA", detail::vmid, detail::asid, detail::num, detail::scale, detail::leaf,
                 detail::ttl, detail::tg, detail::va),
    detail::make(opcode::tlbi_nh_vaa, "TLBI_NH_VAA", detail::vmid, detail::num, detail::scale, detail::leaf,
                 detail::ttl, detail::tg, detail::va),
    detail::make(opcode::tlbi_el3_all, "TLBI_EL3_ALL"),
    detail::make(opcode::tlbi_el3_va, "TLBI_EL3_VA", detail::num, detail::scale, detail::leaf, detail::ttl, detail::tg,
                 detail::va),
    detail::make(opcode::tlbi_el2_all, "TLBI_EL2_ALL"),
    detail::make(opcode::tlbi_el2_asid, "TLBI_EL2_ASID", detail::asid),
    detail::make(opcode::tlbi_el2_va, "TLBI_EL2_VA", detail::asid, detail::num, detail::scale, detail::leaf,
                 detail::ttl, detail::tg, detail::va),
    detail::make(opcode::tlbi_s12_vmall, "TLBI_S12_VMALL", detail::vmid),
    detail::make(opcode::tlbi_s2_ipa, "TLBI_S2_IPA", detail::vmid, detail::num, detail::scale, detail::leaf,
                 detail::ttl, detail::tg, detail::ipa),
    detail::make(opcode::tlbi_nsnh_all, "TLBI_NSNH_ALL"),
    detail::make(opcode::atc_inv, "ATC_INV", field_bits{field::global, 0, 9, 9}, detail::ssv, detail::ssid, detail::sid,
                 field_bits{field::size, 1, 5, 0, field_kind::number, 52}, detail::va),
    detail::make(opcode::pri_resp, "PRI_RESP", detail::ssv, detail::ssid, detail::sid,
                 field_bits{field::grpid, 1, 8, 0}, field_bits{field::resp, 1, 13, 12, field_kind::number, 2}),
    detail::make(opcode::resume, "RESUME", detail::sid, field_bits{field::resp, 0, 13, 12, field_kind::number, 2},
                 field_bits{field::stag, 1, 15, 0, detail::id}),
    detail::make(opcode::stall_term, "STALL_TERM", detail::sid),
    detail::make(opcode::sync, "CMD_SYNC", field_bits{field::cs, 0, 13, 12, field_kind::number, 2},
                 field_bits{field::msh, 0, 23, 22}, field_bits{field::msiattr, 0, 27, 24, detail::id},
                 field_bits{field::msidata, 0, 63, 32, detail::id},
                 field_bits{field::msiaddr, 1, 51, 2, detail::address}),
};

namespace detail {
inline constexpr uint8_t no_layout = 0xff;
struct layout_index {
  uint8_t of[256];
};
constexpr layout_index make_index() noexcept {
  layout_index index{};
  for (uint8_t& i : index.of) i = no_layout;
  uint8_t next = 0;
  for (const layout& l : layouts) index.of[static_cast<uint8_t>(l.op)] = next++;
  return index;
}
inline constexpr layout_index index = make_index();
}  // namespace detail

/// The layout of an opcode byte; null when no command has it. Cost: a table look-up.
constexpr const layout* find_layout(uint8_t op) noexcept {
  const uint8_t i = detail::index.of[op];
  return i == detail::no_layout ? nullptr : &layouts[i];
}

}  // namespace cmdq::smmuv3

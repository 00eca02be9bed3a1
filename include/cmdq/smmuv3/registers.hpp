// SPDX-License-Identifier: BSL-1.0
// Register page 0 (and what is needed of page 1) of an SMMUv3: offsets and fields. Arm SMMUv3 specification, chapter 6.
// CMDQ_CONS.ERR and the bits of GERROR, which the queue itself reads, are in error_bits.hpp.
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/smmuv3/error_bits.hpp>

namespace cmdq::smmuv3::registers {

/// Bits msb:lsb of a register, inclusive.
template <class T>
struct bits {
  unsigned msb = 0;
  unsigned lsb = 0;
  [[nodiscard]] constexpr T mask() const noexcept {
    return static_cast<T>((static_cast<T>(~T{0}) >> (8 * sizeof(T) - 1 - msb + lsb)) << lsb);
  }
  [[nodiscard]] constexpr T get(T reg) const noexcept { return static_cast<T>((reg & mask()) >> lsb); }
  /// `reg` with the field replaced; bits of `value` that do not fit are dropped.
  [[nodiscard]] constexpr T set(T reg, T value) const noexcept {
    return static_cast<T>((reg & static_cast<T>(~mask())) | (static_cast<T>(value << lsb) & mask()));
  }
};
using bits32 = bits<uint32_t>;
using bits64 = bits<uint64_t>;

/// Byte offsets from the base of page 0. The event queue's indices are in page 1 (64 KiB further).
namespace offset {
inline constexpr uint32_t idr0 = 0x00, idr1 = 0x04, idr3 = 0x0c, idr5 = 0x14, iidr = 0x18;
inline constexpr uint32_t cr0 = 0x20, cr0ack = 0x24, cr1 = 0x28, cr2 = 0x2c;
inline constexpr uint32_t gbpa = 0x44;
inline constexpr uint32_t gerror = 0x60, gerrorn = 0x64;
inline constexpr uint32_t cmdq_base = 0x90, cmdq_prod = 0x98, cmdq_cons = 0x9c;
inline constexpr uint32_t page1 = 0x10000;
inline constexpr uint32_t evtq_base = 0xa0, evtq_prod = page1 + 0xa8, evtq_cons = page1 + 0xac;
}  // namespace offset

namespace idr0 {
inline constexpr bits32 s2p{0, 0}, s1p{1, 1}, ttf{3, 2}, cohacc{4, 4}, httu{7, 6}, hyp{9, 9}, ats{10, 10};
inline constexpr bits32 asid16{12, 12}, msi{13, 13}, sev{14, 14}, pri{16, 16}, vmid16{18, 18}, cd2l{19, 19};
inline constexpr bits32 ttendian{22, 21}, stall_model{25, 24}, st_lvl{28, 27};
}  // namespace idr0

namespace idr1 {
inline constexpr bits32 sidsize{5, 0}, ssidsize{10, 6}, priqs{15, 11}, evtqs{20, 16}, cmdqs{25, 21};
inline constexpr bits32 attr_types_ovr{27, 27}, rel{28, 28}, queues_preset{29, 29}, tables_preset{30, 30};
}  // namespace idr1

namespace idr3 {
inline constexpr bits32 ril{10, 10};
}

namespace idr5 {
inline constexpr bits32 oas{2, 0}, gran4k{4, 4}, gran16k{5, 5}, gran64k{6, 6}, vax{11, 10}, stall_max{31, 16};
}

namespace iidr {
inline constexpr bits32 implementer{11, 0}, revision{15, 12}, variant{19, 16}, product{31, 20};
inline constexpr uint32_t arm = 0x43b;
}  // namespace iidr

/// CR0 and CR0ACK. A write takes effect when CR0ACK shows it.
namespace cr0 {
inline constexpr bits32 smmuen{0, 0}, priqen{1, 1}, evtqen{2, 2}, cmdqen{3, 3}, atschk{4, 4}, vmw{8, 6};
inline constexpr bits32 dpt_walk_en{10, 10};
inline constexpr uint32_t mask = 0x5df;  ///< the rest is reserved
}  // namespace cr0

namespace cr1 {
inline constexpr bits32 queue_ic{1, 0}, queue_oc{3, 2}, queue_sh{5, 4}, table_ic{7, 6}, table_oc{9, 8},
    table_sh{11, 10};
inline constexpr uint32_t mask = 0xfff;
}  // namespace cr1

namespace cr2 {
inline constexpr bits32 e2h{0, 0}, recinvsid{1, 1}, ptm{2, 2};
inline constexpr uint32_t mask = 0x7;
}  // namespace cr2

/// What happens to traffic while CR0.SMMUEN = 0. A write is ignored while UPDATE is 1, and has taken effect when a
/// write with UPDATE = 1 reads back with 0.
namespace gbpa {
inline constexpr bits32 abort{20, 20}, update{31, 31};
}

namespace cmdq_base {
inline constexpr bits64 log2size{4, 0}, addr{51, 5}, ra{62, 62};
inline constexpr uint64_t mask = 1ULL << 62 | 0x000fffffffffffffULL;
}  // namespace cmdq_base

namespace cmdq_cons {
inline constexpr bits32 err{30, 24};
}

namespace evtq {
inline constexpr bits32 overflow{31, 31};  ///< of PROD and CONS: the two differ after an overflow
}

/// What a ring must be aligned to: its own size of 16 << log2 bytes, at least 32.
constexpr uint64_t ring_alignment(uint32_t log2) noexcept { return log2 < 1 ? 32 : 16ULL << log2; }

/// CMDQ_BASE for a ring of 2^log2 entries. `cmdqs`: IDR1.CMDQS. Errors: out_of_range for a log2 above CMDQS or 19 and
/// for an address above bit 51; misaligned (limit: the alignment).
constexpr result<uint64_t> make_cmdq_base(uint64_t address, uint32_t log2, uint32_t cmdqs,
                                          bool read_allocate = true) noexcept {
  const uint32_t largest = cmdqs < max_log2_size ? cmdqs : max_log2_size;
  if (log2 > largest) return refusal{status::out_of_range, "log2size", log2, largest};
  if (address >> 52 != 0) return refusal{status::out_of_range, "address", address, (1ULL << 52) - 1};
  if (address % ring_alignment(log2) != 0) return refusal{status::misaligned, "address", address, ring_alignment(log2)};
  return address | log2 | (read_allocate ? cmdq_base::ra.mask() : 0);
}

/// The geometry that a value of CMDQ_BASE describes.
constexpr geometry shape_of(uint64_t base) noexcept { return {static_cast<uint32_t>(cmdq_base::log2size.get(base))}; }

}  // namespace cmdq::smmuv3::registers

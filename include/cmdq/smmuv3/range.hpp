// SPDX-License-Identifier: BSL-1.0
// TLB invalidation of a range of addresses as a sequence of commands, produced one at a time: no storage, no limit on
// the size of the range. Rules: SMMUv3 4.4.1.1 "Range-based invalidation and level hint".
#pragma once

#include <cmdq/smmuv3/commands.hpp>

namespace cmdq::smmuv3 {

/// What to invalidate: the half-open [start, end), taken modulo 2^64, so that end = 0 means 2^64; start = end is empty.
struct invalidation {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t page_sizes = 0x1000;  ///< bit set of the page and block sizes in use, in bytes; the smallest is the granule
  uint64_t leaf_size = 0;        ///< size of the mappings to drop, one of page_sizes in bytes; 0: the granule
  bool leaf = true;              ///< false: table entries above the leaves go too (no level hint is given)
  bool ril = false;              ///< the device has IDR3.RIL
  opcode op = opcode::tlbi_nh_va;  ///< tlbi_nh_va, tlbi_nh_vaa, tlbi_el2_va or tlbi_s2_ipa
  uint32_t vmid = 0;
  uint32_t asid = 0;
};

/// TTL for leaves of 2^log2_leaf bytes under a granule of 2^log2_granule: 4 - (leaf - 3) / (granule - 3), that is 3 for
/// pages, 2 and 1 for blocks; 0 (no hint) above level 1. Precondition: log2_leaf >= log2_granule >= 12.
constexpr uint32_t level_hint(uint32_t log2_granule, uint32_t log2_leaf) noexcept {
  const uint32_t up = (log2_leaf - 3) / (log2_granule - 3);
  return up < 4 ? 4 - up : 0;
}

/// Generator of the commands. With RIL the ranges cover exactly the leaves touched by [start, end), by at most 4
/// commands below 2^20 granules; a non-leaf range whose first command would be illegal is one granule longer. Without
/// RIL: one command per leaf, or a single one for the whole address space from 2^(log2(granule) - 3) leaves on (512 for
/// 4 KiB). That single command spares global entries for tlbi_nh_va: mappings that are dropped by range must not be
/// global.
class range_commands {
 public:
  constexpr range_commands() = default;

  /// Errors: invalid_argument for an op that has no range, an empty page_sizes, a granule other than 4, 16 or 64 KiB
  /// (limit: 65536), a leaf_size that page_sizes has not; out_of_range for end < start, vmid, asid, and IPAs beyond
  /// 2^52.
  static constexpr result<range_commands> make(const invalidation& what) noexcept {
    range_commands r;
    r.what_ = what;
    if (const refusal why = r.check(); why.code != status::ok) return why;
    if (what.start == what.end) return r;
    const uint64_t first = what.start >> r.log2_leaf_;
    const uint64_t leaves = ((what.end - 1) >> r.log2_leaf_) - first + 1;
    r.next_ = first << r.log2_leaf_;
    if (what.ril) {
      r.left_ = leaves << (r.log2_leaf_ - r.log2_granule_);
      if (!what.leaf && r.left_ % 32 == 1) ++r.left_;
    } else {
      r.left_ = leaves;
      r.whole_ = leaves >= 1ULL << (r.log2_granule_ - 3);
    }
    return r;
  }

  /// The next command into `out`; false when there is none left. Never waits. Every command is legal().
  constexpr bool next(command& out) noexcept {
    if (left_ == 0) return false;
    if (whole_) {
      left_ = 0;
      return put(everything(), out);
    }
    return put(what_.ril ? next_range() : next_leaf(), out);
  }

  /// Up to `capacity` commands into `out`; returns how many. Call again for the rest: done() tells.
  constexpr uint32_t fill(command* out, uint32_t capacity) noexcept {
    uint32_t n = 0;
    while (n < capacity && next(out[n])) ++n;
    return n;
  }
  [[nodiscard]] constexpr bool done() const noexcept { return left_ == 0; }

 private:
  /// NUM has 5 bits, SCALE 5 (SMMUv3 with IDR5.DS = 0).
  static constexpr uint32_t max_scale = 31;

  static constexpr uint32_t trailing_zeros(uint64_t v) noexcept { return static_cast<uint32_t>(__builtin_ctzll(v)); }

  constexpr refusal check() noexcept {
    const invalidation& w = what_;
    if (w.op != opcode::tlbi_nh_va && w.op != opcode::tlbi_nh_vaa && w.op != opcode::tlbi_el2_va &&
        w.op != opcode::tlbi_s2_ipa) {
      return {status::invalid_argument, "op", static_cast<uint64_t>(w.op), static_cast<uint64_t>(opcode::tlbi_s2_ipa)};
    }
    if (w.page_sizes == 0) return {status::invalid_argument, "page_sizes", 0, 1};
    log2_granule_ = trailing_zeros(w.page_sizes);
    if (log2_granule_ != 12 && log2_granule_ != 14 && log2_granule_ != 16) {
      return {status::invalid_argument, "granule", 1ULL << log2_granule_, 65536};
    }
    log2_leaf_ = w.leaf_size == 0 ? log2_granule_ : trailing_zeros(w.leaf_size);
    if (w.leaf_size != 0 && (w.leaf_size != 1ULL << log2_leaf_ || (w.page_sizes & w.leaf_size) == 0)) {
      return {status::invalid_argument, "leaf_size", w.leaf_size, w.page_sizes};
    }
    if (w.end < w.start && w.end != 0) return {status::out_of_range, "end", w.end, w.start};
    if (w.vmid > 0xffff) return {status::out_of_range, "vmid", w.vmid, 0xffff};
    if (w.asid > 0xffff) return {status::out_of_range, "asid", w.asid, 0xffff};
    constexpr uint64_t last_ipa = (1ULL << 52) - 1;
    if (w.op == opcode::tlbi_s2_ipa && w.start != w.end && w.end - 1 > last_ipa) {
      return {status::out_of_range, "end", w.end, last_ipa + 1};
    }
    return {};
  }

  /// The lowest set bits of what is left, 5 at a time: each command leaves at least 5 more trailing zeros.
  constexpr any_command next_range() noexcept {
    const uint32_t zeros = trailing_zeros(left_);
    const uint32_t scale = zeros < max_scale ? zeros : max_scale;
    uint64_t n = (left_ >> scale) & 31U;
    if (n == 0) n = 32;  // only at max_scale: NUM + 1 goes to 32
    any_command c = by_address();
    c.set(field::num, n - 1).set(field::scale, scale).set(field::tg, (log2_granule_ - 10) / 2);
    c.set(field::ttl, what_.leaf ? level_hint(log2_granule_, log2_leaf_) : 0);
    left_ -= n << scale;
    next_ += (n << scale) << log2_granule_;
    return c;
  }

  /// Without RIL the fields of a range are reserved: NUM, SCALE, TTL and TG stay 0.
  constexpr any_command next_leaf() noexcept {
    const any_command c = by_address();
    --left_;
    next_ += 1ULL << log2_leaf_;
    return c;
  }

  constexpr any_command by_address() const noexcept {
    any_command c;
    c.op = what_.op;
    c.set(field::addr, next_).set(field::leaf, what_.leaf ? 1 : 0);
    if (what_.op != opcode::tlbi_el2_va) c.set(field::vmid, what_.vmid);
    if (what_.op == opcode::tlbi_nh_va || what_.op == opcode::tlbi_el2_va) c.set(field::asid, what_.asid);
    return c;
  }

  /// EL2 by ASID reaches only entries of a host with E2H; all of EL2 is right with and without.
  constexpr any_command everything() const noexcept {
    any_command c;
    switch (what_.op) {
      case opcode::tlbi_nh_va:
        c.op = opcode::tlbi_nh_asid;
        return c.set(field::vmid, what_.vmid).set(field::asid, what_.asid);
      case opcode::tlbi_nh_vaa:
        c.op = opcode::tlbi_nh_all;
        return c.set(field::vmid, what_.vmid);
      case opcode::tlbi_s2_ipa:
        c.op = opcode::tlbi_s12_vmall;
        return c.set(field::vmid, what_.vmid);
      default:
        c.op = opcode::tlbi_el2_all;
        return c;
    }
  }

  static constexpr bool put(const any_command& c, command& out) noexcept {
    out = *encode(c);
    return true;
  }

  invalidation what_{};
  uint32_t log2_granule_ = 12;
  uint32_t log2_leaf_ = 12;
  uint64_t next_ = 0;  ///< address of the next command
  uint64_t left_ = 0;  ///< granules (RIL) or leaves still to cover
  bool whole_ = false;
};

}  // namespace cmdq::smmuv3

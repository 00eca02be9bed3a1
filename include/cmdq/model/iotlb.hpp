// SPDX-License-Identifier: BSL-1.0
// Translation caches and what a TLBI does to them. The cache is as lazy as the architecture allows: it drops what a
// command names and nothing else, so an invalidation that names too little leaves a stale entry behind.
#pragma once

#include <stdint.h>

#include <cmdq/model/cache.hpp>
#include <cmdq/smmuv3/codec.hpp>

namespace cmdq::model {

/// Whose translations they are: stage 1 of a VMID, stage 2 of a VMID, both in one (a guest's VA straight to the PA: a
/// TLBI by IPA cannot find it), or EL2's.
enum class regime : uint8_t { stage1, stage2, combined, el2 };

/// What a cached translation or table walk belongs to, and the addresses it covers.
struct tlb_entry {
  regime where = regime::stage1;
  uint16_t vmid = 0;
  uint16_t asid = 0;
  bool global = false;        ///< stage 1 and combined only: serves every ASID
  bool table = false;         ///< walk cache: a table descriptor, not a translation
  uint8_t level = 3;          ///< level of the descriptor, 0..3
  uint8_t granule_log2 = 12;  ///< 12, 14 or 16
  uint64_t address = 0;       ///< VA, or IPA for stage 2; aligned to the size below
  friend constexpr bool operator==(const tlb_entry&, const tlb_entry&) = default;
};

/// log2 of the bytes that one descriptor at `level` covers: each level resolves log2(granule) - 3 bits.
constexpr unsigned covered_log2(unsigned granule_log2, unsigned level) noexcept {
  return granule_log2 + (3 - level) * (granule_log2 - 3);
}

/// The addresses that a TLBI by address names: [first, last], both inclusive so that the top of the space fits.
struct address_span {
  uint64_t first = 0;
  uint64_t last = 0;
};

/// With TG = 0 the granule that holds the address, whatever its size; else (NUM + 1) * 2^SCALE granules from it
/// (SMMUv3 IDR3.RIL). Ends at the top of the address space where it would pass it.
constexpr address_span span_of(const smmuv3::any_command& c) noexcept {
  using smmuv3::field;
  const uint64_t first = c.get(field::addr);
  if (c.get(field::tg) == 0) return {first, first};
  const unsigned granule = static_cast<unsigned>(2 * c.get(field::tg) + 10);
  const unsigned shift = static_cast<unsigned>(c.get(field::scale)) + granule;  // <= 47
  const uint64_t bytes = (c.get(field::num) + 1) << shift;
  const uint64_t last = first + bytes - 1;
  return {first, last < first ? ~0ULL : last};
}

/// True when a TLBI by address reaches this entry as far as address, granule, level and LEAF go.
constexpr bool address_matches(const smmuv3::any_command& c, const tlb_entry& e) noexcept {
  using smmuv3::field;
  const uint64_t tg = c.get(field::tg);
  if (e.table && c.get(field::leaf) != 0) return false;
  if (tg != 0 && e.granule_log2 != 2 * tg + 10) return false;  // the range is given for another granule
  const bool hint = tg != 0 && c.get(field::ttl) != 0 && !(tg == 2 && c.get(field::ttl) == 1);
  if (hint && !e.table && e.level != c.get(field::ttl)) return false;
  const address_span s = span_of(c);
  const uint64_t last = e.address | ((1ULL << covered_log2(e.granule_log2, e.level)) - 1);
  return s.first <= last && e.address <= s.last;
}

/// True when the command drops the entry. `e2h`: CR2.E2H, without which EL2's translations have no ASID.
constexpr bool invalidates(const smmuv3::any_command& c, const tlb_entry& e, bool e2h) noexcept {
  using smmuv3::field;
  using smmuv3::opcode;
  const bool vmid = e.vmid == c.get(field::vmid);
  const bool asid = e.global || e.asid == c.get(field::asid);
  const bool by_va = e.where == regime::stage1 || e.where == regime::combined;
  switch (c.op) {
    case opcode::tlbi_nsnh_all:
      return e.where != regime::el2;
    case opcode::tlbi_s12_vmall:
      return e.where != regime::el2 && vmid;
    case opcode::tlbi_nh_all:
      return by_va && vmid;
    case opcode::tlbi_nh_asid:
      return by_va && vmid && !e.global && e.asid == c.get(field::asid);
    case opcode::tlbi_nh_va:
      return by_va && vmid && asid && address_matches(c, e);
    case opcode::tlbi_nh_vaa:
      return by_va && vmid && address_matches(c, e);
    case opcode::tlbi_s2_ipa:
      return e.where == regime::stage2 && vmid && address_matches(c, e);
    case opcode::tlbi_el2_all:
      return e.where == regime::el2;
    case opcode::tlbi_el2_asid:
      return e.where == regime::el2 && (!e2h || (!e.global && e.asid == c.get(field::asid)));
    case opcode::tlbi_el2_va:
      return e.where == regime::el2 && (!e2h || asid) && address_matches(c, e);
    default:
      return false;
  }
}

/// Translations and table walks, one cache each.
template <uint32_t Capacity = 256>
class iotlb {
 public:
  void fill(const tlb_entry& e) noexcept { (e.table ? walks_ : leaves_).fill(e); }
  /// Applies a command; returns how many entries it dropped. Commands that are no TLBI drop none.
  uint32_t apply(const smmuv3::any_command& c, bool e2h = false) noexcept {
    const auto hit = [&](const tlb_entry& e) { return invalidates(c, e, e2h); };
    return leaves_.drop(hit) + walks_.drop(hit);
  }
  [[nodiscard]] bool holds(const tlb_entry& e) const noexcept {
    return (e.table ? walks_ : leaves_).any([&](const tlb_entry& other) { return e == other; });
  }
  [[nodiscard]] uint32_t size() const noexcept { return leaves_.size() + walks_.size(); }

 private:
  cache<tlb_entry, Capacity> leaves_;
  cache<tlb_entry, Capacity> walks_;
};

}  // namespace cmdq::model

// SPDX-License-Identifier: BSL-1.0
// Where implementations differ from the architecture, one row each. The driver's side asks what it may do (may_issue()
// and the flags), the model's side asks what the part does (accepts() and the same flags): a quirk that the one handles
// and the other does not have, or the reverse, shows in a test.
#pragma once

#include <cmdq/smmuv3/opcodes.hpp>
#include <cmdq/smmuv3/registers.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq::smmuv3 {

/// What is different about a part. All off: the architecture.
struct quirks {
  bool no_sev = false;                ///< CMD_SYNC's event must not be used
  bool sync_every_batch = false;      ///< every published batch ends in a CMD_SYNC
  bool one_class_per_batch = false;   ///< and holds commands of one command_class beside it
  bool msi_64bit = false;             ///< the MSI writes 64 bits: all of word 0 of a CMD_SYNC that is its own target
  bool prefer_cons = false;           ///< polling CMDQ_CONS is faster than polling the MSI
  bool no_prefetch = false;           ///< PREFETCH_* is CERROR_ILL
  bool sync_cs0_only = false;         ///< CMD_SYNC with CS != 0 is CERROR_ILL
  bool guest_opcodes_only = false;    ///< TLBI_NH_ASID, TLBI_NH_VA, ATC_INV and CMD_SYNC; the rest is CERROR_ILL
  bool repeat_invalidations = false;  ///< TLBI and CFGI lists are issued again once their CMD_SYNC has completed
  bool no_atc_inv = false;            ///< ATC_INV must not be issued
  /// Commands in a published batch, without its CMD_SYNC; 0: as many as the queue's options say.
  uint32_t batch_limit = 0;

  friend constexpr bool operator==(const quirks&, const quirks&) = default;
};

/// Which IIDR values a row is for. Parts that are known by firmware tables only have `known` false.
struct part_match {
  bool known = false;
  uint32_t implementer = 0;
  uint32_t product = 0;
  uint32_t max_variant = 15;   ///< newest variant ("rN") affected
  uint32_t max_revision = 15;  ///< newest revision ("pN") of that variant affected

  [[nodiscard]] constexpr bool matches(uint32_t iidr) const noexcept {
    namespace r = registers::iidr;
    if (!known || r::implementer.get(iidr) != implementer || r::product.get(iidr) != product) return false;
    const uint32_t variant = r::variant.get(iidr);
    return variant < max_variant || (variant == max_variant && r::revision.get(iidr) <= max_revision);
  }
};

struct quirk_row {
  const char* name = "";    ///< as given to find_quirk()
  const char* part = "";    ///< for people
  const char* source = "";  ///< erratum, or where the behaviour is described
  part_match match{};
  quirks flags{};
};

/// Product numbers of MMU-600 (0x483) and MMU-700 (0x487): as reported in the field, not from their manuals.
inline constexpr quirk_row quirk_table[] = {
    {"mmu600_no_sev",
     "Arm MMU-600 r0p0..r0p2",
     "event signalling not usable",
     {true, registers::iidr::arm, 0x483, 0, 2},
     {.no_sev = true}},
    {"mmu700_sync",
     "Arm MMU-700",
     "erratum 2812531: batches without CMD_SYNC may interfere",
     {true, registers::iidr::arm, 0x487, 15, 15},
     {.sync_every_batch = true, .one_class_per_batch = true, .batch_limit = 63}},
    {"hi16xx_msi", "HiSilicon Hi16xx", "the MSI write is 64 bits wide", {}, {.msi_64bit = true, .prefer_cons = true}},
    {"hi161x_prefetch", "HiSilicon 161x", "PREFETCH commands are not accepted", {}, {.no_prefetch = true}},
    {"tegra241_guest",
     "Tegra241 CMDQV, guest-owned queue",
     "CS = 0 only, a subset of opcodes (the list is unverified)",
     {},
     {.sync_cs0_only = true, .guest_opcodes_only = true}},
    {"tegra264_repeat",
     "Tegra264",
     "invalidations are issued twice, ATC_INV never",
     {},
     {.repeat_invalidations = true, .no_atc_inv = true}},
};

/// Both sets of quirks at once; the smaller batch limit wins.
constexpr quirks operator|(const quirks& a, const quirks& b) noexcept {
  quirks q;
  q.no_sev = a.no_sev || b.no_sev;
  q.sync_every_batch = a.sync_every_batch || b.sync_every_batch;
  q.one_class_per_batch = a.one_class_per_batch || b.one_class_per_batch;
  q.msi_64bit = a.msi_64bit || b.msi_64bit;
  q.prefer_cons = a.prefer_cons || b.prefer_cons;
  q.no_prefetch = a.no_prefetch || b.no_prefetch;
  q.sync_cs0_only = a.sync_cs0_only || b.sync_cs0_only;
  q.guest_opcodes_only = a.guest_opcodes_only || b.guest_opcodes_only;
  q.repeat_invalidations = a.repeat_invalidations || b.repeat_invalidations;
  q.no_atc_inv = a.no_atc_inv || b.no_atc_inv;
  const bool a_smaller = b.batch_limit == 0 || (a.batch_limit != 0 && a.batch_limit < b.batch_limit);
  q.batch_limit = a_smaller ? a.batch_limit : b.batch_limit;
  return q;
}

/// Row by name; null when there is none.
constexpr const quirk_row* find_quirk(const char* wanted) noexcept {
  for (const quirk_row& row : quirk_table) {
    const char* a = row.name;
    const char* b = wanted;
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a == *b) return &row;
  }
  return nullptr;
}

/// What IIDR (register 0x18) tells. Parts without a known IIDR must be named by the user: find_quirk().
constexpr quirks quirks_of(uint32_t iidr) noexcept {
  quirks q;
  for (const quirk_row& row : quirk_table) {
    if (row.match.matches(iidr)) q = q | row.flags;
  }
  return q;
}

/// False when a part with these quirks answers the command with CERROR_ILL although it is legal() elsewhere.
constexpr bool accepts(const quirks& q, const command& c) noexcept {
  const uint8_t op = opcode_of(c.word[0]);
  const bool prefetch =
      op == static_cast<uint8_t>(opcode::prefetch_config) || op == static_cast<uint8_t>(opcode::prefetch_addr);
  if (q.no_prefetch && prefetch) return false;
  if (q.sync_cs0_only && op == opcode_sync && ((c.word[0] >> 12) & 3U) != 0) return false;
  const bool guest = op == static_cast<uint8_t>(opcode::tlbi_nh_asid) ||
                     op == static_cast<uint8_t>(opcode::tlbi_nh_va) || op == opcode_atc_inv || op == opcode_sync;
  return !q.guest_opcodes_only || guest;
}

/// False when a driver must not put the command into a queue of a part with these quirks: what the part does not
/// accept, its unusable event, and ATC_INV where the part must never see one.
constexpr bool may_issue(const quirks& q, const command& c) noexcept {
  const uint8_t op = opcode_of(c.word[0]);
  if (q.no_atc_inv && op == opcode_atc_inv) return false;
  if (q.no_sev && op == opcode_sync && ((c.word[0] >> 12) & 3U) == static_cast<unsigned>(sync_signal::event))
    return false;
  return accepts(q, c);
}

}  // namespace cmdq::smmuv3

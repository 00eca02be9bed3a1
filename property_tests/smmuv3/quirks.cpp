// SPDX-License-Identifier: BSL-1.0
#include <cmdq/smmuv3/commands.hpp>
#include <cmdq/smmuv3/quirks.hpp>
#include <set>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::smmuv3;

namespace {
constexpr uint32_t iidr_of(uint32_t product, uint32_t variant, uint32_t revision, uint32_t implementer = 0x43b) {
  return product << 20 | variant << 16 | revision << 12 | implementer;
}

const command syncs[] = {make_sync(sync_signal::none), make_msi_sync(0x1000, 0), make_sync(sync_signal::event)};
}  // namespace

CMDQ_TEST(quirk_rows_have_names_and_flags) {
  std::set<std::string> names;
  for (const quirk_row& row : quirk_table) {
    names.insert(row.name);
    CMDQ_CHECK(find_quirk(row.name) == &row);
    CMDQ_CHECK(!(row.flags == quirks{}));
    CMDQ_CHECK((quirks{} | row.flags) == row.flags);
    CMDQ_CHECK((row.flags | row.flags) == row.flags);
  }
  CMDQ_CHECK_EQ(names.size(), std::size(quirk_table));
  CMDQ_CHECK(find_quirk("") == nullptr && find_quirk("mmu700") == nullptr && find_quirk("mmu700_sync_") == nullptr);
}

CMDQ_TEST(quirk_mmu600_has_no_event_up_to_r0p2) {
  for (uint32_t revision = 0; revision <= 2; ++revision) CMDQ_CHECK(quirks_of(iidr_of(0x483, 0, revision)).no_sev);
  CMDQ_CHECK(quirks_of(iidr_of(0x483, 0, 3)) == quirks{});
  CMDQ_CHECK(quirks_of(iidr_of(0x483, 1, 0)) == quirks{});
  CMDQ_CHECK(quirks_of(iidr_of(0x483, 0, 0, 0x43c)) == quirks{});
  const quirks q = quirks_of(iidr_of(0x483, 0, 0));
  CMDQ_CHECK(may_issue(q, syncs[0]) && may_issue(q, syncs[1]) && !may_issue(q, syncs[2]));
  for (const command& c : syncs) CMDQ_CHECK(accepts(q, c));
}

CMDQ_TEST(quirk_mmu700_syncs_every_batch_of_63) {
  for (uint32_t variant = 0; variant < 16; ++variant) {
    const quirks q = quirks_of(iidr_of(0x487, variant, variant));
    CMDQ_CHECK(q.sync_every_batch && q.one_class_per_batch);
    CMDQ_CHECK_EQ(q.batch_limit, 63U);
  }
  CMDQ_CHECK(quirks_of(iidr_of(0x488, 0, 0)) == quirks{});
  CMDQ_CHECK(quirks_of(0) == quirks{} && quirks_of(~0U) == quirks{});
}

/// What each row makes the part refuse, over every command there is.
CMDQ_TEST(quirk_rows_refuse_exactly_their_commands) {
  for (const quirk_row& row : quirk_table) {
    const std::string name = row.name;
    for (const layout& l : layouts) {
      const auto op = static_cast<uint8_t>(l.op);
      const command c{{op, 0}};
      const bool prefetch = op == 0x01 || op == 0x02;
      const bool guest = op == 0x11 || op == 0x12 || op == 0x40 || op == 0x46;
      const bool expected = name == "hi161x_prefetch" ? !prefetch : name == "tegra241_guest" ? guest : true;
      CMDQ_CHECK_EQ(accepts(row.flags, c), expected);
      CMDQ_CHECK_EQ(may_issue(row.flags, c), expected && !(name == "tegra264_repeat" && op == 0x40));
    }
  }
  const quirks tegra241 = find_quirk("tegra241_guest")->flags;
  CMDQ_CHECK(accepts(tegra241, syncs[0]) && !accepts(tegra241, syncs[1]) && !accepts(tegra241, syncs[2]));
}

CMDQ_TEST(quirk_parts_known_by_name) {
  CMDQ_CHECK(find_quirk("hi16xx_msi")->flags.msi_64bit && find_quirk("hi16xx_msi")->flags.prefer_cons);
  for (const char* name : {"hi16xx_msi", "hi161x_prefetch", "tegra241_guest", "tegra264_repeat"}) {
    CMDQ_CHECK(!find_quirk(name)->match.known);
  }
}

CMDQ_TEST(quirk_union_keeps_every_flag_and_the_smaller_batch) {
  quirks all;
  for (const quirk_row& row : quirk_table) all = all | row.flags;
  const quirks every{.no_sev = true,
                     .sync_every_batch = true,
                     .one_class_per_batch = true,
                     .msi_64bit = true,
                     .prefer_cons = true,
                     .no_prefetch = true,
                     .sync_cs0_only = true,
                     .guest_opcodes_only = true,
                     .repeat_invalidations = true,
                     .no_atc_inv = true,
                     .batch_limit = 63};
  CMDQ_CHECK(all == every);
  CMDQ_CHECK_EQ((quirks{.batch_limit = 8} | quirks{.batch_limit = 63}).batch_limit, 8U);
  CMDQ_CHECK_EQ((quirks{.batch_limit = 63} | quirks{.batch_limit = 8}).batch_limit, 8U);
  CMDQ_CHECK_EQ((quirks{.batch_limit = 8} | quirks{}).batch_limit, 8U);
}

// SPDX-License-Identifier: BSL-1.0
// What the device notices of a driver that ignores the part's quirks. One row of the quirk table after the other.
#include <algorithm>

#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::device_drive;

static model::capabilities part(const char* quirk) {
  const smmuv3::quirk_row* row = smmuv3::find_quirk(quirk);
  CMDQ_CHECK(row != nullptr);
  model::capabilities c;
  c.part = row->flags;
  return c;
}

CMDQ_TEST(quirk_mmu600_no_sev) {
  rig r(3, device_drive::in_write, part("mmu600_no_sev"));
  r.give(make_sync(sync_signal::none));
  CMDQ_CHECK_EQ(r.device.odd.total(), 0u);
  r.give(make_sync(sync_signal::event));
  CMDQ_CHECK_EQ(r.device.odd.forbidden_commands, 1u);
  CMDQ_CHECK_EQ(r.log.events, 0u);  // and no event comes
  CMDQ_CHECK(!r.error_active());
}

CMDQ_TEST(quirk_mmu700_sync) {
  const auto run = [](const std::vector<command>& commands, bool one_write) {
    rig r(8, device_drive::in_write, part("mmu700_sync"));
    for (const command& c : commands) one_write ? r.put(c) : r.give(c);
    r.tell();
    return r.device.odd;
  };
  const command sync = make_sync(sync_signal::none);
  const command config = made(smmuv3::cfgi_ste{.sid = 1});
  CMDQ_CHECK_EQ(run({tlbi(1), tlbi(2), sync}, true).total(), 0u);
  CMDQ_CHECK_EQ(run({tlbi(1), sync}, false).unsynced_batches, 1u);
  CMDQ_CHECK_EQ(run({tlbi(1), config, sync}, true).mixed_batches, 1u);
  CMDQ_CHECK_EQ(run({tlbi(1), sync, config, sync}, true).total(), 0u);
  std::vector<command> batch(63, tlbi(1));
  batch.push_back(sync);
  CMDQ_CHECK_EQ(run(batch, true).total(), 0u);
  batch.insert(batch.begin(), tlbi(1));
  CMDQ_CHECK_EQ(run(batch, true).long_batches, 1u);
}

CMDQ_TEST(quirk_hi161x_prefetch) {
  for (const uint64_t op : {1u, 2u}) {
    rig r(3, device_drive::in_write, part("hi161x_prefetch"));
    r.give({{op, 0}});
    CMDQ_CHECK(r.error_active());
  }
}

CMDQ_TEST(quirk_tegra241_guest) {
  const struct {
    command c;
    bool ok;
  } rows[] = {{make_sync(sync_signal::none), true},
              {make_sync(sync_signal::event), false},
              {make_msi_sync(ring_base, 0), false},
              {tlbi(1), true},
              {{{0x30, 0}}, false},
              {{{0x11, 0}}, true}};
  for (const auto& row : rows) {
    rig r(3, device_drive::in_write, part("tegra241_guest"));
    r.give(row.c);
    CMDQ_CHECK_EQ(!r.error_active(), row.ok);
  }
}

CMDQ_TEST(quirk_tegra264_no_atc_inv) {
  rig r(3, device_drive::in_write, part("tegra264_repeat"));
  r.give(made(smmuv3::atc_inv{.sid = 1}));
  CMDQ_CHECK_EQ(r.device.odd.forbidden_commands, 1u);
}

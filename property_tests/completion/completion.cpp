// SPDX-License-Identifier: BSL-1.0
// Both ways to wait for a CMD_SYNC.
#include "queue/cases.hpp"

using namespace cmdq;
using namespace cmdq::test;

CMDQ_TEST(bug_L51_a_wide_msi_damages_nothing_but_its_own_word) {
  for (const strategy which : all_strategies)
    for (const bool wide : {false, true}) {
      setup what = small_ring(which, 3, 2, 1);
      what.msi = true;
      what.caps.part.msi_64bit = wide;
      stage s(what);
      const ring_memory<scheduled_platform> m = s.r.memory();
      for (unsigned i = 0; i < 8; ++i) m.entries[i].word1.set(0x5a5a000 + i);
      CMDQ_CHECK_EQ(s[0].issue(kinds("tt")), status::ok);
      const command sync = m.entries[2].get();
      CMDQ_CHECK_EQ(sync.word[0] & 0xffffffffU, 0U);
      CMDQ_CHECK_EQ(sync.word[1], m.device_address + 2 * sizeof(command));
      for (unsigned i = 3; i < 8; ++i) CMDQ_CHECK_EQ(m.entries[i].get().word[1], 0x5a5a000U + i);
      CMDQ_CHECK_EQ(id_of(m.entries[0].get()), 0U);
      CMDQ_CHECK_EQ(id_of(m.entries[1].get()), 1U);
      for (int i = 0; i < 20; ++i) CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
    }
}

CMDQ_TEST(bug_L52_both_modes_can_be_chosen) {
  for (const strategy which : all_strategies)
    for (const bool msi : {false, true}) {
      setup what = small_ring(which, 3, 2, 1);
      what.msi = msi;
      stage s(what);
      CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
      const command sync = s.r.log.log.back().what;
      CMDQ_CHECK_EQ((sync.word[0] >> 12) & 3U, msi ? 1U : 2U);
    }
}

CMDQ_TEST(bug_L53_lost_events_do_not_keep_a_waiter) {
  for_all_policies(3, 2, 1, [](const setup& what) {
    stage s(what);
    s.r.device.plan.lost_events = model::for_ever;
    s.r.device.plan.failing_msis = model::for_ever;
    for (int i = 0; i < 8; ++i) CMDQ_CHECK_EQ(s[0].issue(kinds("tt")), status::ok);
  });
}

CMDQ_TEST(bug_L54_late_msis_without_an_event_end_the_wait) {
  for (const strategy which : all_strategies) {
    setup what = small_ring(which, 5, 2, 1);
    what.msi = true;
    what.speed.msi_late_steps = 5;
    what.caps.sev = false;
    stage s(what);
    for (int i = 0; i < 8; ++i) CMDQ_CHECK_EQ(s[0].issue(kinds("tt")), status::ok);
  }
}

// An MSI that comes before the list was told to the device is a lie, and no completion.
CMDQ_TEST(an_early_msi_is_a_device_fault) {
  for (const strategy which : all_strategies) {
    setup what = small_ring(which, 3, 1, 2);
    what.msi = true;
    crew_case c;
    c.what = what;
    c.expected = harm::lies;
    c.lie = model::lie::anything;
    c.programs = {{issue("t"), issue("t")}, {issue("t")}};
    under_any_interleaving(c);
  }
}

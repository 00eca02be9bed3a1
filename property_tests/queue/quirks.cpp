// SPDX-License-Identifier: BSL-1.0
// How a caller's commands are cut, and what implementations with quirks get to see.
#include "cases.hpp"
#include "support/asked.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
setup mmu700(const setup& from) {
  setup s = from;
  s.opts.sync_every_batch = true;
  s.caps.part.sync_every_batch = s.caps.part.one_class_per_batch = true;
  s.caps.part.batch_limit = 63;
  return s;
}
}  // namespace

CMDQ_TEST(bug_L18_every_batch_is_synced_and_of_one_class) {
  for_all_policies(7, 64, 1, [](const setup& what) {
    for (const unsigned n : {64U, 65U, 127U}) {
      stage s(mmu700(what));
      CMDQ_CHECK_EQ(s[0].issue(std::vector<kind>(n, kind::tlb)), status::ok);
      CMDQ_CHECK_EQ(s[0].insert(kinds("ttcct")), status::ok);
      CMDQ_CHECK_EQ(s[0].insert(std::vector<kind>(n, kind::configuration)), status::ok);
      drain(s.r);
      CMDQ_CHECK_EQ(s.r.device.odd.total(), 0U);
      s.r.log.check_complete();
      std::string expected;
      const auto batches = [&](unsigned left, char c) {
        for (; left != 0; left -= std::min(left, 63U)) expected += std::string(std::min(left, 63U), c) + "S";
      };
      batches(n, 't');
      expected += "ttSccStS";
      batches(n, 'c');
      CMDQ_CHECK_EQ(executed(s.r), expected);
    }
  });
}

CMDQ_TEST(bug_L18_gathered_lists_keep_their_own_syncs) {
  for (const strategy which : all_strategies) {
    crew_case c;
    c.what = mmu700(small_ring(which, 4, 4, 3));
    c.programs = {{issue("tt"), insert("c")}, {issue("cc"), issue("t")}, {insert("t"), issue("tc")}};
    under_any_interleaving(c);
  }
}

CMDQ_TEST(bug_L19_invalidations_are_repeated_after_their_sync) {
  for_all_policies(5, 4, 1, [](const setup& what) {
    setup repeats = what;
    repeats.opts.repeat_invalidations = true;
    stage s(repeats);
    s.r.log.repeats = true;
    CMDQ_CHECK_EQ(s[0].issue(kinds("tt")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "ttSttS");
    CMDQ_CHECK_EQ(s[0].issue(kinds("c")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "ttSttScScS");
    CMDQ_CHECK_EQ(s[0].issue(kinds("aa")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "ttSttScScSaaS");
  });
}

CMDQ_TEST(bug_L20_translation_is_invalidated_and_synced_before_the_atc) {
  for_all_policies(5, 4, 1, [](const setup& what) {
    stage s(what);
    CMDQ_CHECK_EQ(s[0].issue(kinds("ta")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "tSaS");
    CMDQ_CHECK_EQ(s[0].issue(kinds("ttaat")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "tSaSttSaaStS");
    CMDQ_CHECK_EQ(s[0].insert(kinds("ta")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "tSaSttSaaStStSaS");
  });
}

CMDQ_TEST(bug_L20_across_calls) {
  for_all_policies(6, 4, 1, [](const setup& what) {
    stage s(what);
    CMDQ_CHECK_EQ(s[0].insert(kinds("t")), status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("a")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "tSaS");
    CMDQ_CHECK_EQ(s[0].insert(kinds("tt")), status::ok);
    CMDQ_CHECK_EQ(s[0].insert(kinds("aa")), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "tSaSttSaaS");
    CMDQ_CHECK_EQ(s[0].insert(kinds("c")), status::ok);
    const auto t = s[0].submit(kinds("a"));
    CMDQ_CHECK(t.has_value());
    CMDQ_CHECK_EQ(s[0].wait(*t, test_deadline_ns), status::ok);
    CMDQ_CHECK_EQ(executed(s.r), "tSaSttSaaScSaS");
    // In place there is no room for it: refused.
    CMDQ_CHECK_EQ(s[0].insert(kinds("t")), status::ok);
    const command atc = make_command(kind::atc, 100);
    status reserved = status::ok;
    bool refused = false;
    try {
      static_cast<void>(s.r->fill(0, &atc, 1, true, reserved, [] {}));
    } catch (const failure&) {
      refused = true;
    }
    CMDQ_CHECK(reserved == status::ok && refused);
  });
}

CMDQ_TEST(lists_are_cut_at_the_batch_limit) {
  property([] {
    const std::uint32_t limit = *rc::gen::inRange(1U, 9U);
    const std::uint32_t n = *rc::gen::inRange(0U, 40U);
    stage s(small_ring(strategy::cmpxchg_loop, 6, limit, 1));
    const std::size_t list = s.r.log.ask(0, std::vector<kind>(n, kind::tlb));
    const std::vector<command> commands = s.r.log.commands(list);
    const outcome o = s.r->issue(0, commands.data(), n);
    CMDQ_CHECK_EQ(o.code, status::ok);
    CMDQ_CHECK_EQ(o.lists, n == 0 ? 1 : (n + limit - 1) / limit);
    CMDQ_CHECK_EQ(o.done, n);
    s.r.log.check_done(list, n);
  });
}

// What the device must not be given is not inserted, wherever it stands; what stands before it is.
CMDQ_TEST(r22_a_queue_refuses_an_asid_that_the_device_does_not_have) {
  for_all_policies(5, 4, 1, [](const setup& what) {
    setup narrow = what;
    narrow.caps.asid16 = narrow.caps.vmid16 = false;
    narrow.opts = smmuv3::fit(what.opts, asked(narrow.caps));
    stage s(narrow);
    const command wide{{0x11 | 0x1234ULL << 48, 0}}, fits{{0x11 | 0x34ULL << 48, 0}};
    CMDQ_CHECK_EQ(s.r->issue(0, &wide, 1).code, status::out_of_range);
    CMDQ_CHECK_EQ(s.r->insert(0, &wide, 1).code, status::out_of_range);
    CMDQ_CHECK_EQ(s.r->submit(0, &wide, 1).code(), status::out_of_range);
    CMDQ_CHECK_EQ(s.r.device.commands, 0U);
    CMDQ_CHECK_EQ(s.r->issue(0, &fits, 1).code, status::ok);
    const command mixed[] = {fits, fits, wide, fits};
    const outcome o = s.r->issue(0, mixed, 4);
    CMDQ_CHECK(o.code == status::out_of_range && o.inserted == 2);
    CMDQ_CHECK(!s.r->submit(0, mixed, 4).ok());
    CMDQ_CHECK_EQ(s.r->issue(0, nullptr, 0).code, status::ok);
    CMDQ_CHECK_EQ(s.r.device.commands - s.r.device.syncs, 3U);
  });
}

CMDQ_TEST(r23_a_guests_queue_refuses_what_it_may_not_issue) {
  for_all_policies(5, 4, 1, [](const setup& what) {
    setup guest = what;
    if (guest.msi) return;  // it has none: make_plan() refuses
    guest.caps.part = smmuv3::find_quirk("tegra241_guest")->flags;
    guest.opts = smmuv3::fit(what.opts, asked(guest.caps));
    stage s(guest);
    const command nh_all{{0x10, 0}}, nh_va{{0x12, 0x1000}};
    CMDQ_CHECK_EQ(s.r->issue(0, &nh_all, 1).code, status::invalid_argument);
    CMDQ_CHECK_EQ(s.r->submit(0, &nh_all, 1).code(), status::invalid_argument);
    CMDQ_CHECK_EQ(s.r->issue(0, &nh_va, 1).code, status::ok);
    CMDQ_CHECK(s.r.device.odd.total() == 0 && s.r.device.read_gerror() == 0);
  });
}

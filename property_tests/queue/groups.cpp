// SPDX-License-Identifier: BSL-1.0
// allocation::combining: what gathers in a range, and in groups of CPUs before it. Groups also take part in the
// properties of the other files, by generated options.
#include <algorithm>

#include "cases.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
setup grouped(const setup& from, std::uint32_t groups, std::uint32_t cpus_per_group) {
  setup s = from;
  s.opts.groups = groups;
  s.opts.cpus_per_group = cpus_per_group;
  return s;
}
op on(std::uint32_t cpu, op o) {
  o.cpu = cpu;
  return o;
}
op submit(const char* letters) { return {op::what::submit_and_wait, kinds(letters)}; }
op fill(const char* letters) { return {op::what::fill, kinds(letters)}; }

/// Has nobody gathered in a group, nor set one up?
bool untouched(rig& r) {
  for (std::uint32_t i = 0; i < r.what.opts.groups; ++i)
    if (r.memory().groups[i].word.load(at<site::claim_look>) != 0) return false;
  return true;
}
}  // namespace

CMDQ_TEST(lists_of_one_group_go_together) {
  for (const bool msi : {false, true}) {
    crew_case c;
    c.what = grouped(small_ring(strategy::combining, 4, 3, 4), 2, 4);  // all in one group
    c.what.msi = msi;
    c.programs = {{issue("ttt"), insert("t")}, {insert("tt"), issue("")}, {submit("t"), issue("tt")}, {fill("ttt")}};
    under_any_interleaving(c);
  }
}

CMDQ_TEST(who_moves_between_groups_keeps_its_order) {
  crew_case c;
  c.what = grouped(small_ring(strategy::combining, 5, 2, 4), 3, 1);
  c.programs = {{on(0, insert("t")), on(1, insert("tt")), on(2, issue("t"))},
                {on(0, issue("t")), on(0, insert("t"))},
                {on(1, insert("t")), on(2, insert("t")), on(0, issue("t"))},
                {on(2, issue("tt")), on(5, insert("t"))}};
  under_any_interleaving(c);
}

CMDQ_TEST(errors_in_a_group_are_told_to_who_earned_them) {
  for (const bool msi : {false, true}) {
    crew_case c;
    c.what = grouped(small_ring(strategy::combining, 5, 2, 4), 2, 2);
    c.what.msi = msi;
    c.dead_reports = 2;
    c.programs = {
        {issue("tI"), issue("t")}, {issue("t"), insert("I"), issue("t")}, {issue("D")}, {issue("tt"), submit("I")}};
    under_any_interleaving(c);
  }
}

// The word on which members wait lags by any number of entries where the group's CPUs were idle.
CMDQ_TEST(a_group_that_was_idle_for_long_is_not_done_at_once) {
  for (const std::uint32_t entries : {1U << 30, (1U << 31) - 1, 1U << 31, (1U << 31) + 1, 3U << 30, 0U - 64}) {
    crew_case c;
    c.what = grouped(small_ring(strategy::combining, 4, 3, 4), 2, 4);
    c.idle_groups = entries;
    c.programs = {{issue("ttt"), issue("t")}, {issue("tt"), issue("t")}, {insert("t"), issue("tt")}, {issue("tt")}};
    under_any_interleaving(c);
  }
}

// Nobody in a group waits for ever for a leader that hears of a device which is gone.
CMDQ_TEST(a_group_whose_device_is_gone_ends) {
  for (const model::lie lie : {model::lie::gone, model::lie::anything}) {
    crew_case c;
    c.what = grouped(small_ring(strategy::combining, 4, 2, 4), 2, 3);
    c.expected = harm::lies;
    c.lie = lie;
    c.programs.assign(4, {issue("tt"), insert("t"), issue("t")});
    under_any_interleaving(c);
  }
}

CMDQ_TEST(where_each_list_has_its_sync_nobody_gathers_in_groups) {
  setup s = grouped(small_ring(strategy::combining, 5, 4, 4), 3, 1);
  s.opts.first = 0U - 3;
  s.opts.sync_every_batch = true;
  s.caps.part.sync_every_batch = s.caps.part.one_class_per_batch = true;
  crew_case c;
  c.what = s;
  c.programs = {{issue("tt"), insert("c")}, {issue("cc"), issue("t")}, {insert("t"), issue("tc")}, {submit("tt")}};
  under_any_interleaving(c);

  stage alone(s);
  for (unsigned i = 0; i < 4; ++i) CMDQ_CHECK_EQ(alone[i].issue(kinds("ttc")), status::ok);
  CMDQ_CHECK_EQ(executed(alone.r), "ttScSttScSttScSttScS");
  CMDQ_CHECK(untouched(alone.r));

  s.opts.sync_every_batch = false;
  stage gathers(s);
  for (unsigned i = 0; i < 4; ++i) CMDQ_CHECK_EQ(gathers[i].issue(kinds("ttc")), status::ok);
  CMDQ_CHECK(!untouched(gathers.r));
}

// Group commit: two ranges are with a device that stands, everything else gathers in a third.
CMDQ_TEST(a_standing_device_is_given_three_ranges) {
  property([] {
    setup what = small_ring(strategy::combining, 5, 1, 6);
    draw_groups(what);
    rig r(what);
    scheduler s(*interleavings(), 400'000);
    const harm none = harm::none;
    std::vector<worker> workers;
    for (unsigned i = 0; i < what.opts.producers; ++i) workers.emplace_back(r, i, none);
    for (worker& w : workers)
      s.spawn([&w] {
        w.attach();
        w.issue({kind::tlb});
      });
    s.spawn([&r] {
      stand_still(test_deadline_ns / 4);
      while (scheduler::current()->running_threads() > 1)
        if (model::rests(r.device.step())) scheduled_platform::yield();
    });
    RC_LOG() << shown(what) << '\n';
    CMDQ_CHECK(s.run() == scheduler::ending::finished);
    r.log.check_complete();
    const std::string done = executed(r);
    CMDQ_CHECK(std::count(done.begin(), done.end(), 'S') <= 3);
  });
}

// An owner that fills its entries in place holds its range open: the count of what gathers there must not reach the
// position. 65,536 lists that want to know their end did so once.
CMDQ_TEST(more_lists_gather_than_16_bits_can_count) {
  constexpr std::uint32_t with_commands = 70'000;
  constexpr std::uint32_t without = 70'000;
  rig r(small_ring(strategy::combining, 18, 1, 2));
  CMDQ_CHECK_EQ(r->attach(0), status::ok);
  CMDQ_CHECK_EQ(r->attach(1), status::ok);
  const auto ask = [&](unsigned producer) {
    const std::size_t list = r.log.ask(producer, {kind::tlb});
    r.log.lists[list].inserted = 1;
    return list;
  };
  std::vector<kept_ticket> tickets;
  const std::vector<command> held = r.log.commands(ask(0));
  status reserved = status::stalled;
  const status s = r->fill(0, held.data(), 1, true, reserved, [&] {
    for (std::uint32_t i = 0; i < with_commands + without; ++i) {
      const bool empty = i % 2 == 1;
      const std::size_t list = empty ? 0 : ask(1);
      const auto t = r->submit(1, empty ? nullptr : r.log.commands(list).data(), empty ? 0 : 1);
      CMDQ_CHECK(t.ok());
      tickets.push_back({*t, list});
    }
    for (const kept_ticket& k : {tickets.front(), tickets.back()}) CMDQ_CHECK_EQ(r->poll(1, k.t), status::would_block);
    CMDQ_CHECK(r.bus.prods.empty());
  });
  CMDQ_CHECK_EQ(reserved, status::ok);
  CMDQ_CHECK_EQ(s, status::ok);
  for (const kept_ticket& k : tickets) {
    CMDQ_CHECK_EQ(r->wait(1, k.t, test_deadline_ns), status::ok);
    r.log.check_done(k.list, 1);
  }
  r.log.check_complete();
  check_prods(r);
  CMDQ_CHECK_EQ(r.device.odd.total(), 0U);
  CMDQ_CHECK_EQ(r->issue(0, nullptr, 0).code, status::ok);
}

// Who fills entries in place may take long: others join the range, and keep to their deadlines.
CMDQ_TEST(who_waits_behind_an_in_place_writer_keeps_its_deadline) {
  for_all_policies(5, 2, 2, [](const setup& what) {
    for (const bool sync : {false, true}) {
      stage s(what);
      s.expected = harm::breaks;
      const std::size_t list = s.r.log.ask(0, kinds("tt"));
      s.r.log.lists[list].inserted = 2;
      status reserved = status::stalled;
      static_cast<void>(s.r->fill(0, s.r.log.commands(list).data(), 2, sync, reserved, [&] {
        const bool delegated = what.allocation == strategy::delegated;  // a mailbox is nobody's claim
        const status end = delegated ? status::ok : status::timeout;
        const std::uint64_t took = s.time_of([&] { CMDQ_CHECK_EQ(s[1].issue(kinds("tt")), end); });
        CMDQ_CHECK((delegated || took >= test_deadline_ns) && took < test_deadline_ns + 20 * scheduler::idle_round_ns);
      }));
      CMDQ_CHECK_EQ(reserved, status::ok);
      for (int i = 0; i < 3 && s.r->recover() == status::stalled; ++i) drain(s.r);
      CMDQ_CHECK_EQ(s.r->recover(), status::ok);
      s.r.log.check_complete();
    }
  });
}

// What gathers in a range is bounded by the ring: a ticket without commands takes an entry, too.
CMDQ_TEST(tickets_without_commands_fill_a_range) {
  rig r(small_ring(strategy::combining, 5, 1, 2));
  CMDQ_CHECK_EQ(r->attach(0), status::ok);
  CMDQ_CHECK_EQ(r->attach(1), status::ok);
  const std::size_t list = r.log.ask(0, {kind::tlb});
  r.log.lists[list].inserted = 1;
  status reserved = status::stalled;
  std::vector<ticket> tickets;
  status refused = status::ok;
  static_cast<void>(r->fill(0, r.log.commands(list).data(), 1, true, reserved, [&] {
    while (refused == status::ok && tickets.size() <= r.shape().entries()) {
      const auto t = r->submit(1, nullptr, 0);
      if (t.ok()) tickets.push_back(*t);
      refused = t.code();
    }
  }));
  CMDQ_CHECK_EQ(reserved, status::ok);
  CMDQ_CHECK_EQ(refused, status::timeout);
  CMDQ_CHECK(tickets.size() > 1 && tickets.size() < r.shape().entries());
  drain(r);
  CMDQ_CHECK_EQ(r->recover(), status::ok);
  for (const ticket& t : tickets) CMDQ_CHECK_EQ(r->poll(1, t), status::ok);
  r.log.check_complete();
}

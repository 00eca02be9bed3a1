// SPDX-License-Identifier: BSL-1.0
// The queue among others: threads that lose their processor, a clock that steps back, a driver that shares GERROR, a
// caller's memory that changes. Tests named rNN_ are the rows of the collection of small inputs.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/cmdq.hpp>
#include <cmdq/smmuv3/acknowledge.hpp>
#include <memory>

#include "cases.hpp"
#include "crew.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

template <class F>
void for_each_small(F f) {
  for_all_policies(5, 3, 2, [&](const setup& what) { f(what); });
}

struct stepping_back : platform::default_hooks {
  static std::uint64_t now_ns() { return reads[next++]; }
  static inline const std::uint64_t reads[] = {5000, 4999, 5000 + 999'999'999, 5000 + 1'000'000'000};
  static inline unsigned next = 0;
};

}  // namespace

CMDQ_TEST(r01_who_was_off_its_processor_finds_its_list_done) {
  for_each_small([](const setup& what) {
    stage s(what);
    unsigned polls = 0;
    scheduled_platform::idle = [&] {
      scheduled_platform::alone_ns += 1000;
      if (++polls != 3) return;
      scheduled_platform::alone_ns += 2 * test_deadline_ns;  // off its processor, and the device finishes
      s.r.device.drain();
    };
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
    CMDQ_CHECK(polls >= 3);
    scheduled_platform::idle = [&] { s.r.device.drain(); };
    CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
  });
}

CMDQ_TEST(r02_a_clock_that_steps_back_ends_no_budget) {
  time_budget<platform::builtins_with<stepping_back>> budget(1'000'000'000);
  CMDQ_CHECK(!budget.expired());
  CMDQ_CHECK(!budget.expired());
  CMDQ_CHECK(!budget.expired());
  CMDQ_CHECK(budget.expired());
}

CMDQ_TEST(r03_bits_of_gerror_that_are_not_the_queues_stay_active) {
  for_each_small([](const setup& what) {
    stage s(what);
    const std::uint32_t others = gerror::evtq_abt | gerror::priq_abt | gerror::msi_evtq_abt | 1U << 9 | 1U << 10;
    s.r.device.raise_global(others);
    const error_report report = s.r->handle_errors();
    CMDQ_CHECK_EQ(report.others, others);
    CMDQ_CHECK(!report.handled);
    CMDQ_CHECK_EQ(s.r->pending_errors(), others);
    const auto t = s[1].submit(kinds("t"));
    s.r.device.drain();
    CMDQ_CHECK_EQ(s[1].poll(*t), status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("I")), status::illegal_command);
    CMDQ_CHECK_EQ(s.r->pending_errors(), others);
    s.r->acknowledge(gerror::evtq_abt | gerror::cmdq_err);
    CMDQ_CHECK_EQ(s.r->pending_errors(), others & ~gerror::evtq_abt);
  });
}

CMDQ_TEST(r04_two_writers_of_gerrorn_undo_nothing) {
  for_each_small([](const setup& what) {
    stage s(what);
    CMDQ_CHECK_EQ(s[0].insert(kinds("tI")), status::ok);
    s.r.device.drain();
    s.r.device.raise_global(gerror::evtq_abt);
    CMDQ_CHECK_EQ(s.r->pending_errors(), gerror::evtq_abt | gerror::cmdq_err);
    // The driver reads GERRORN; before it writes, another CPU finds the illegal command and repairs it.
    unsigned reads = 0;
    s.r.bus.at_gerrorn = [&] {
      if (++reads == 1) CMDQ_CHECK_EQ(s.r->handle_errors().code, status::ok);
    };
    s.r->acknowledge(gerror::evtq_abt);
    s.r.bus.at_gerrorn = nullptr;
    CMDQ_CHECK_EQ(s.r->pending_errors() & gerror::evtq_abt, 0U);
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::illegal_command);  // of the insert
    CMDQ_CHECK_EQ(s.r->pending_errors(), 0U);
    CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
    CMDQ_CHECK_EQ(s.r.log.failures.size(), std::size_t{1});
  });
}

CMDQ_TEST(r04_who_finds_another_writer_leaves_word) {
  struct device {
    std::uint32_t gerror = gerror::evtq_abt | gerror::priq_abt | gerror::cmdq_err, gerrorn = 0;
    std::function<void()> at_read;
    std::uint32_t read_gerror() const { return gerror; }
    std::uint32_t read_gerrorn() {
      const auto f = std::exchange(at_read, nullptr);
      const std::uint32_t v = gerrorn;
      if (f) f();
      return v;
    }
    void write_gerrorn(std::uint32_t v) { gerrorn = v; }
  } d;
  acknowledgement<scheduled_platform> shared;
  d.at_read = [&] {
    shared.request(d, gerror::priq_abt);                   // an interrupt handler: must not wait
    CMDQ_CHECK(!shared.acknowledge(d, gerror::cmdq_err));  // nor the queue
    CMDQ_CHECK_EQ(d.gerrorn, 0U);
  };
  shared.request(d, gerror::evtq_abt);
  CMDQ_CHECK_EQ(d.gerrorn, gerror::evtq_abt | gerror::priq_abt);
  CMDQ_CHECK(shared.acknowledge(d, gerror::cmdq_err));
  CMDQ_CHECK_EQ(d.gerrorn, d.gerror);
}

CMDQ_TEST(r05_calls_that_ended_leave_no_count_behind) {
  for (const strategy which : all_strategies) {
    rig r(small_ring(which, 4, 1, 2));
    CMDQ_CHECK_EQ(r->attach(0), status::ok);
    CMDQ_CHECK_EQ(r->attach(1), status::ok);
    const std::size_t list = r.log.ask(0, {kind::tlb});
    r.log.lists[list].inserted = 1;
    status reserved = status::ok;
    scheduled_platform::idle = [] { scheduled_platform::alone_ns += 1000; };
    static_cast<void>(r->fill(0, r.log.commands(list).data(), 1, true, reserved, [&] {
      // The owner is off its processor. 2^20 / 4097 rounds were a carry into the position.
      for (int i = 0; i < 1'100'000; ++i) {
        static_cast<void>(r->issue_for(1, nullptr, 0, 0));
        if (r->recover() == status::ok) throw failure("recover() is ok while somebody is inside");
      }
    }));
    for (int i = 0; i < 3 && r->recover() == status::stalled; ++i) drain(r);
    CMDQ_CHECK_EQ(r->recover(), status::ok);
    scheduled_platform::idle = [&] { r.device.drain(); };
    CMDQ_CHECK_EQ(r->issue(1, nullptr, 0).code, status::ok);
    r.log.check_complete();
  }
}

CMDQ_TEST(r06_a_sync_comes_between_a_ticket_and_an_atc_invalidation) {
  for (const strategy which : all_strategies) {
    stage s(small_ring(which, 6, 2, 2));
    const std::size_t list = s.r.log.ask(0, {kind::tlb});
    s.r.log.lists[list].inserted = 1;
    status reserved = status::ok;
    // Another owner's range is open.
    static_cast<void>(s.r->fill(0, s.r.log.commands(list).data(), 1, false, reserved, [&] {
      s.r.what.opts.deadline_ns = test_deadline_ns;
      s.expected = harm::breaks;
      CMDQ_CHECK(s[1].submit(kinds("t")).has_value());
      static_cast<void>(s[1].submit(kinds("a")));
    }));
    for (int i = 0; i < 3; ++i) {
      drain(s.r);
      static_cast<void>(s.r->recover());
    }
    s.expected = harm::none;
    CMDQ_CHECK_EQ(s[1].issue(kinds("a")), status::ok);
    const std::string done = executed(s.r);
    const std::size_t first = done.rfind('t');
    CMDQ_CHECK(done.find('S', first) < done.find('a', first));
  }
}

namespace {

/// `issuers` producers issue in a loop until the last one's insert() is through.
void insert_gets_its_turn(strategy which, unsigned log2, std::uint32_t batch, unsigned producers, unsigned inserts) {
  property([&] {
    setup what = small_ring(which, log2, batch, producers);
    what.opts.deadline_ns = no_deadline;
    rig r(what);
    scheduler s(*interleavings(), 4'000'000);
    unsigned through = 0;
    for (unsigned p = 0; p < producers; ++p) CMDQ_CHECK_EQ(r->attach(p), status::ok);
    for (unsigned p = 0; p + 1 < producers; ++p)
      s.spawn([&, p] {
        for (int i = 0; through != inserts; ++i) {
          if (i == 400) throw failure("insert() is never let in");
          const std::size_t list = r.log.ask(p, std::vector<kind>(batch, kind::tlb));
          CMDQ_CHECK_EQ(r->issue(p, r.log.commands(list).data(), batch).code, status::ok);
          r.log.lists[list].inserted = batch;
        }
      });
    s.spawn([&] {
      for (; through != inserts; ++through) {
        const std::size_t list = r.log.ask(producers - 1, std::vector<kind>(batch, kind::tlb));
        CMDQ_CHECK_EQ(r->insert(producers - 1, r.log.commands(list).data(), batch).code, status::ok);
        r.log.lists[list].inserted = batch;
      }
    });
    s.spawn([&] {
      while (s.running_threads() > 1)
        if (model::rests(r.device.step())) scheduled_platform::yield();
    });
    if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
    drain(r);
    r.log.check_complete();
  });
}

}  // namespace

CMDQ_TEST(r07_insert_gets_its_turn_beside_callers_that_wait) {
  for (const strategy which : all_strategies) insert_gets_its_turn(which, 6, 7, 4, 1);
}

CMDQ_TEST(r26_no_ring_starves_an_insert) {
  for (const strategy which : all_strategies)
    for (const unsigned log2 : {5U, 6U}) insert_gets_its_turn(which, log2, 4, 3, 8);  // 2 C T <= 32 < 3 C T <= 64
}

CMDQ_TEST(r26_a_plan_says_whether_it_is_asynchronous) {
  auto memory = std::make_unique<fixed_memory<default_config::platform, 10, 4>>();
  options o{.log2_size = 6, .batch_limit = 4, .producers = 3};
  CMDQ_CHECK(make_plan<default_config>(o, memory->memory())->asynchronous);  // 3 x 3 x 5 = 45 <= 64
  o.log2_size = 5;
  CMDQ_CHECK_EQ(make_plan<default_config>(o, memory->memory())->asynchronous,
                !default_config::allocation::claims_before_space);
}

CMDQ_TEST(r08_the_default_options_are_asynchronous) {
  auto memory = std::make_unique<fixed_memory<default_config::platform, 10>>();
  const auto plan = make_plan<default_config>({}, memory->memory());
  CMDQ_CHECK(plan.ok() && plan->asynchronous);
  for (const strategy which : all_strategies) {
    setup what;
    what.allocation = which;
    what.opts.deadline_ns = test_deadline_ns;
    stage s(what);
    s.r.device_runs = false;
    CMDQ_CHECK_EQ(s.time_of([&] {
      for (int i = 0; i < 3; ++i) CMDQ_CHECK(s[static_cast<unsigned>(i) % 2].submit(kinds("tt")).has_value());
    }),
                  0U);
    drain(s.r);
  }
}

CMDQ_TEST(r09_the_error_of_a_list_that_timed_out_is_told_by_the_next_call) {
  for_each_small([](const setup& what) {
    for (const bool by_insert : {false, true}) {
      stage s(what);
      s.r.device_runs = false;
      s.expected = harm::breaks;
      CMDQ_CHECK_EQ(s[0].issue(kinds("I")), status::timeout);
      s.r.device_runs = true;
      for (int i = 0; i < 4; ++i) s.r.device.step();
      static_cast<void>(s.r->handle_errors());
      drain(s.r);
      s.expected = harm::none;
      CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
      CMDQ_CHECK_EQ(by_insert ? s[0].insert(kinds("t")) : s[0].issue(kinds("t")), status::illegal_command);
      CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);  // once
      CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
    }
  });
}

CMDQ_TEST(r10_marks_do_not_alias_within_2_31_entries) {
  for_each_small([](const setup& what) {
    for (const position ago : {1U << 30, 1U << 31, 3U << 30}) {
      stage s(what);
      const position p = what.opts.first;
      s.r.memory().marks[p & (s.r.shape().entries() - 1)].store(
          pack_error(p - ago, static_cast<std::uint32_t>(cerror::ill)), at<site::setup>);
      CMDQ_CHECK_EQ(s[0].issue(kinds("I")), status::illegal_command);
      CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
    }
  });
}

CMDQ_TEST(r17_a_stale_error_code_costs_no_register_reads) {
  for_each_small([](const setup& what) {
    stage s(what);
    CMDQ_CHECK_EQ(s[0].issue(kinds("I")), status::illegal_command);
    CMDQ_CHECK(cons_error(s.r.device.read_cons()) != 0);
    const std::uint64_t before = s.r.bus.gerror_reads;
    scheduled_platform::idle = [&] { s.r.device.drain(); };
    for (int i = 0; i < 10; ++i) CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
    CMDQ_CHECK(s.r.bus.gerror_reads - before <= 1);
  });
}

CMDQ_TEST(r18_what_looks_like_a_finished_sync_is_illegal_all_the_same) {
  for (const strategy which : all_strategies) {
    setup what = small_ring(which, 4, 2, 1);
    what.msi = true;
    rig r(what);
    CMDQ_CHECK_EQ(r->attach(0), status::ok);
    for (std::uint32_t i = 0; i < 20; ++i) {
      const std::uint32_t slot = r->prod_register() & (r.shape().entries() - 1);
      const command forged{{0, r.memory().device_address + 16ULL * slot}};
      CMDQ_CHECK_EQ(r->issue(0, &forged, 1).code, status::illegal_command);
    }
  }
}

CMDQ_TEST(r19_a_list_that_changes_meanwhile_is_checked_as_it_enters) {
  for (const strategy which : all_strategies)
    property([&] {
      setup what = small_ring(which, 5, 4, 1);
      rig r(what);
      CMDQ_CHECK_EQ(r->attach(0), status::ok);
      const std::size_t list = r.log.ask(0, std::vector<kind>(4, kind::tlb));
      std::vector<command> mine = r.log.commands(list);
      const std::vector<command> as_looked_at = mine;
      const command stolen = make_msi_sync(0x1000, 0);
      scheduler s(*interleavings(), 200'000);
      outcome o;
      s.spawn([&] { o = r->issue(0, mine.data(), 4); });
      s.spawn([&] {
        for (unsigned i = 0; i < 40; ++i) {
          mine[i % 4] = (i / 4) % 2 == 0 ? stolen : as_looked_at[i % 4];
          scheduled_platform::access();
        }
        mine = as_looked_at;
      });
      s.spawn([&] {
        while (s.running_threads() > 1)
          if (model::rests(r.device.step())) scheduled_platform::yield();
      });
      if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
      CMDQ_CHECK(o.code == status::ok || o.code == status::invalid_argument);
      for (const executed_command& e : r.log.log)
        CMDQ_CHECK(((e.what.word[0] >> 12) & 3U) != static_cast<unsigned>(sync_signal::msi) ||
                   class_of(e.what.word[0]) != command_class::sync);
    });
}

CMDQ_TEST(r24_after_a_dead_atc_is_reported_everything_works_by_itself) {
  for_each_small([](const setup& what) {
    stage s(what);
    s.r.device.plan.kill_stream(dead_stream_id, 1);
    s.expected = harm::breaks;
    s.r.device_runs = false;  // the device waits for the ATC
    CMDQ_CHECK_EQ(s[0].issue(kinds("D")), status::timeout);
    const status other = s[1].issue(kinds("t"));
    CMDQ_CHECK(other == status::timeout || other == status::stalled);
    s.r.device_runs = true;
    status s1 = status::stalled;
    for (int i = 0; i < 4 && s1 != status::ok; ++i) {
      drain(s.r);
      s1 = s[1].issue(kinds("t"));
    }
    CMDQ_CHECK_EQ(s1, status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::atc_timeout);  // of the list that timed out
    s.expected = harm::none;
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
  });
}

// A member of a group, budget 1 ms, while its leader is off its processor for 3 s, at each point of its call and for
// as many steps of the member before that as there are.
CMDQ_TEST(r12_a_member_ends_with_its_budget_however_long_its_leader_is_away) {
  unsigned late_leaders = 0;
  for (std::uint64_t point = 0; point < 70; ++point)
    for (std::uint8_t ahead = 0; ahead < 24; ++ahead) {
      setup what = small_ring(strategy::combining, 5, 1, 2);
      what.opts.groups = what.opts.cpus_per_group = 2;
      what.opts.deadline_ns = 1'000'000;
      rig r(what);
      harm expected = harm::breaks;
      worker leader(r, 0, expected);
      worker member(r, 1, expected);
      leader.attach();
      member.attach();
      // The leader for up to six points, `ahead` times, then the member: it joins what the leader has begun.
      choices interleaving(ahead, 5);
      interleaving.push_back(8 + 5);
      scheduler s(interleaving, 2'000'000);
      s.spawn([&] { leader.issue(kinds("t")); });
      s.spawn([&] {
        s.count_after(s.now_ns() + what.opts.deadline_ns);
        const std::uint64_t began = s.now_ns();
        const status end = member.issue(kinds("t"));
        late_leaders += end == status::timeout ? 1 : 0;
        if (end != status::ok && end != status::timeout) throw failure(name(end));
        CMDQ_CHECK(s.now_ns() - began < 2 * what.opts.deadline_ns);
        CMDQ_CHECK(s.points_after() < 600);
      });
      s.spawn([&] {
        while (s.running_threads() > 1)
          if (model::rests(r.device.step())) scheduled_platform::yield();
      });
      s.stand(0, point, 3'000'000'000);
      if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
      drain(r);
      r.log.check_order();
    }
  CMDQ_CHECK(late_leaders > 0);  // it did wait for it
}

// One of two loses its processor for a time at any point of its calls, on a device that lives: the other's calls end by
// their budgets and with nothing but their own; once it goes on everything is consumed, once. What a call still does
// after its deadline is counted in its own accesses (seen: up to 363 in 6000 cases each; a wait that goes on has
// thousands), because how long it is not scheduled is not its doing.
CMDQ_TEST(who_loses_its_processor_takes_nobody_along) {
  static constexpr std::uint64_t most_after = 600;
  for_all_policies(5, 3, 3, [](const setup& fixed) {
    property([&] {
      setup what = fixed;
      what.opts.deadline_ns = 200'000;
      rig r(what);
      harm expected = harm::breaks;
      std::vector<worker> workers;
      scheduler s(*interleavings(), 1'000'000);
      const auto point = *rc::gen::inRange<std::uint64_t>(0, 120);
      const auto ns = *rc::gen::element<std::uint64_t>(50'000, 1'000'000, 3'000'000);
      for (unsigned p = 0; p < 3; ++p) workers.emplace_back(r, p, expected);
      for (unsigned p = 0; p < 3; ++p) workers[p].attach();
      for (unsigned p = 0; p < 3; ++p)
        s.spawn([&, p] {
          for (int i = 0; i < 4; ++i) {
            s.count_after(s.now_ns() + what.opts.deadline_ns);
            const status end = i == 2 ? workers[p].insert(kinds("tt")) : workers[p].issue(kinds(i == 1 ? "" : "t"));
            if (end != status::ok && end != status::timeout)
              throw failure(shown(what) + ": producer " + std::to_string(p) + " call " + std::to_string(i) + ": " +
                            name(end));
            if (p != 0 && s.points_after() > most_after)
              throw failure(shown(what) + ": producer " + std::to_string(p) + " call " + std::to_string(i) + ": " +
                            name(end) + ", " + std::to_string(s.points_after()) + " accesses after its deadline");
          }
        });
      s.spawn([&] {
        while (s.running_threads() > 1)
          if (model::rests(r.device.step())) scheduled_platform::yield();
      });
      s.stand(0, point, ns);
      if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
      expected = harm::none;
      for (int i = 0; i < 4 && r->recover() == status::stalled; ++i) drain(r);
      CMDQ_CHECK_EQ(r->recover(), status::ok);
      r.log.check_order();
      r.log.check_complete();
      scheduled_platform::idle = [&] { r.device.drain(); };
      for (unsigned p = 0; p < 3; ++p) CMDQ_CHECK_EQ(workers[p].issue(kinds("t")), status::ok);
      r.log.check_complete();
    });
  });
}

CMDQ_TEST(recover_is_never_ok_while_somebody_is_inside) {
  for_all_policies(4, 2, 2, [](const setup& what) {
    property([&] {
      rig r(what);
      CMDQ_CHECK_EQ(r->attach(0), status::ok);
      bool inside = false;
      scheduler s(*interleavings(), 200'000);
      s.spawn([&] {
        for (int i = 0; i < 3; ++i) {
          const std::size_t list = r.log.ask(0, {kind::tlb});
          inside = true;
          const outcome o = r->issue(0, r.log.commands(list).data(), 1);
          inside = false;
          r.log.lists[list].inserted = o.inserted;
          CMDQ_CHECK_EQ(o.code, status::ok);
          scheduled_platform::yield();
        }
      });
      s.spawn([&] {
        for (int i = 0; i < 12; ++i) {
          const std::size_t before = r.log.lists.size();
          const bool was_inside = inside && r->prod_register() != r->cons_register();
          const status end = r->recover();
          // Inside all the time, with a list that the device has not done.
          const bool still = inside && before == r.log.lists.size() && r->prod_register() != r->cons_register();
          CMDQ_CHECK(!(was_inside && still && end == status::ok));
          scheduled_platform::yield();
        }
      });
      s.spawn([&] {
        while (s.running_threads() > 1)
          if (model::rests(r.device.step())) scheduled_platform::yield();
      });
      if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
      drain(r);
      r.log.check_complete();
    });
  });
}

// Who sleeps is woken by who sees the device move; it does not wake thousands of times to look for itself.
CMDQ_TEST(r29_sleepers_sleep) {
  for (const strategy which : all_strategies) {
    setup what = small_ring(which, 7, 1, 16);
    what.park = true;
    what.opts.deadline_ns = 10'000'000'000;
    rig r(what);
    scheduler s({}, 2'000'000);
    for (unsigned p = 0; p < 16; ++p) {
      CMDQ_CHECK_EQ(r->attach(p), status::ok);
      s.spawn([&, p] {
        const std::size_t list = r.log.ask(p, {kind::tlb});
        CMDQ_CHECK_EQ(r->issue(p, r.log.commands(list).data(), 1).code, status::ok);
        r.log.lists[list].inserted = 1;
      });
    }
    s.spawn([&] {
      stand_still(5'000'000);
      while (s.running_threads() > 1)
        if (model::rests(r.device.step())) scheduled_platform::yield();
    });
    if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
    std::uint64_t parks = 0;
    for (unsigned p = 0; p < 16; ++p) parks += r->stats(p).of(stats::event::park);
    CMDQ_CHECK(parks <= 16 * 20 + 150);  // naps that double up to 10 ms; the first in the ring looks every 50 us
    r.log.check_complete();
  }
}

// SPDX-License-Identifier: BSL-1.0
// Device errors: whose they are, how they end, what is left.
#include <cmdq/queue/errors.hpp>

#include "cases.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
unsigned failures(const rig& r, cerror why) {
  unsigned n = 0;
  for (const failed_command& f : r.log.failures) n += f.why == why ? 1U : 0U;
  return n;
}
bool acknowledged(rig& r) { return r.device.read_gerror() == r.device.read_gerrorn(); }
}  // namespace

CMDQ_TEST(bug_L34_every_global_error_is_acknowledged) {
  for_all_policies(5, 2, 1, [](const setup& what) {
    for (const std::uint32_t bit : {2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
      stage s(what);
      s.r.device.raise_global(1U << bit);
      const bool fatal = bit == 8;
      const bool of_the_queue = bit == 4;
      const error_report report = s.r->handle_errors();
      CMDQ_CHECK_EQ(report.code, fatal ? status::device_fault : status::ok);
      CMDQ_CHECK_EQ(report.others, of_the_queue ? 0U : 1U << bit);
      CMDQ_CHECK_EQ(acknowledged(s.r), of_the_queue);
      s.r->acknowledge(1U << bit);  // the driver's part
      CMDQ_CHECK(acknowledged(s.r));
      if (fatal) s.expected = harm::breaks;
      CMDQ_CHECK_EQ(s[0].issue(kinds("t")), fatal ? status::device_fault : status::ok);
    }
  });
}

CMDQ_TEST(bug_L34_service_failure_ends_a_wait) {
  for_all_policies(5, 2, 1, [](const setup& what) {
    stage s(what);
    s.expected = harm::breaks;
    s.r.device.raise_global(gerror::sfm);
    const std::uint64_t took = s.time_of([&] { CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::device_fault); });
    CMDQ_CHECK(took < test_deadline_ns);
    CMDQ_CHECK_EQ(s.r->pending_errors(), gerror::sfm);
  });
}

CMDQ_TEST(bug_L36_only_the_issuer_of_a_dead_atc_is_told) {
  for (const strategy which : all_strategies)
    for (const bool msi : {false, true}) {
      crew_case c;
      c.what = small_ring(which, 4, 2, 3);
      c.what.msi = msi;
      c.programs = {{issue("D"), issue("t")}, {issue("t"), issue("t")}, {issue("tt"), issue("t"), issue("t")}};
      under_any_interleaving(c);
    }
}

CMDQ_TEST(bug_L36_a_reused_slot_carries_no_old_error) {
  for_all_policies(3, 1, 1, [](const setup& what) {
    stage s(what);
    s.r.device.plan.kill_stream(dead_stream_id);
    CMDQ_CHECK_EQ(s[0].issue(kinds("D")), status::atc_timeout);
    for (int i = 0; i < 16; ++i) CMDQ_CHECK_EQ(s[0].issue(kinds("a")), status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("I")), status::illegal_command);
    for (int i = 0; i < 16; ++i) CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
  });
}

CMDQ_TEST(bug_L37_one_dead_device_in_a_batch_of_four) {
  for_all_policies(4, 4, 1, [](const setup& what) {
    stage s(what);
    s.r.device.plan.kill_stream(dead_stream_id, 2);
    CMDQ_CHECK_EQ(s[0].issue(kinds("aaDa")), status::atc_timeout);
    s.r.log.check_done(0, 4);
    CMDQ_CHECK_EQ(failures(s.r, cerror::atc_inv), 2U);
    CMDQ_CHECK_EQ(s[0].issue(kinds("aaaa")), status::ok);
    CMDQ_CHECK(acknowledged(s.r));
  });
}

CMDQ_TEST(bug_L38_an_illegal_sync_ends_its_waiter_with_an_error) {
  for_all_policies(4, 2, 1, [](const setup& what) {
    setup cs0_only = what;
    cs0_only.caps.part.sync_cs0_only = true;  // CS = 1 (MSI) and CS = 2 (event) are CERROR_ILL
    stage s(cs0_only);
    for (int i = 0; i < 12; ++i) {
      const std::vector<command> one = s.r.log.commands(s.r.log.ask(0, kinds("t")));
      const std::uint64_t took =
          s.time_of([&] { CMDQ_CHECK_EQ(s.r->issue(0, one.data(), 1).code, status::illegal_command); });
      CMDQ_CHECK(took < test_deadline_ns / 2);
    }
    CMDQ_CHECK_EQ(failures(s.r, cerror::ill), 12U);
  });
}

CMDQ_TEST(bug_L39_fetch_aborts_are_retried) {
  for_all_policies(4, 2, 1, [](const setup& what) {
    for (unsigned k = 1; k <= what.opts.fetch_retries; ++k) {
      stage s(what);
      s.r.device.plan.abort_fetch(what.opts.first + 1, k);
      CMDQ_CHECK_EQ(s[0].issue(kinds("tt")), status::ok);
      CMDQ_CHECK_EQ(failures(s.r, cerror::abt), k);
      s.r.log.check_complete();
    }
  });
}

CMDQ_TEST(bug_L39_fetch_aborts_for_ever_are_bounded_and_reported) {
  for_all_policies(4, 1, 2, [](const setup& what) {
    stage s(what);
    s.r.device.plan.abort_fetch(what.opts.first, model::for_ever);
    s.expected = harm::breaks;
    const std::uint64_t took = s.time_of([&] { CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::fetch_abort); });
    CMDQ_CHECK(took < test_deadline_ns);
    CMDQ_CHECK_EQ(failures(s.r, cerror::abt), what.opts.fetch_retries + 1);
    CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::device_fault);
  });
}

CMDQ_TEST(bug_L47_the_handler_does_one_error_per_call) {
  for_all_policies(5, 2, 1, [](const setup& what) {
    stage s(what);
    for (int i = 0; i < 3; ++i) CMDQ_CHECK_EQ(s[0].insert(kinds("I")), status::ok);
    for (int i = 0; i < 12; ++i) {
      s.r.device.drain();
      const std::uint64_t before = s.r.bus.acknowledgements;
      const std::uint64_t looks = s.r.bus.cons_reads;
      CMDQ_CHECK_EQ(s.r->handle_errors().code, status::ok);
      CMDQ_CHECK(s.r.bus.acknowledgements - before <= 1);
      CMDQ_CHECK(s.r.bus.cons_reads - looks <= 2);
    }
    CMDQ_CHECK(acknowledged(s.r));
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::illegal_command);  // of the lists before
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
  });
}

CMDQ_TEST(bug_L60_a_dead_device_does_not_stop_the_others) {
  for (const strategy which : all_strategies) {
    crew_case c;
    c.what = small_ring(which, 4, 2, 3);
    c.dead_reports = 3;
    c.programs = {{issue("D"), issue("D"), issue("D")}, {issue("t"), issue("t")}, {issue("t"), insert("t"), issue("")}};
    under_any_interleaving(c);
  }
}

CMDQ_TEST(bug_L60_atc_timeouts_for_ever_are_bounded) {
  for_all_policies(4, 2, 2, [](const setup& what) {
    stage s(what);
    s.r.device.plan.kill_stream(dead_stream_id, model::for_ever);
    s.expected = harm::breaks;
    CMDQ_CHECK_EQ(s[0].issue(kinds("D")), status::atc_timeout);
    CMDQ_CHECK_EQ(failures(s.r, cerror::atc_inv), what.opts.fetch_retries + 1);
    CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::device_fault);
  });
}

// The next three were found by the properties in this folder.
CMDQ_TEST(errors_of_unsynced_lists_are_told_at_the_next_wait) {
  for_all_policies(6, 2, 1, [](const setup& what) {
    stage s(what);
    CMDQ_CHECK_EQ(s[0].insert(kinds("tI")), status::ok);
    CMDQ_CHECK_EQ(s[0].insert(kinds("t")), status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::illegal_command);
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("Itttttt")), status::illegal_command);  // cut: the error is in the first part
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
  });
}

CMDQ_TEST(what_was_done_before_the_device_failed_is_done) {
  for_all_policies(5, 2, 2, [](const setup& what) {
    stage s(what);
    const auto t = s[0].submit(kinds("t"));
    CMDQ_CHECK(t.has_value());
    s.r.device.drain();
    s.r.device.plan.abort_fetch(s.r.device.next() + 1, model::for_ever);
    s.expected = harm::breaks;
    CMDQ_CHECK_EQ(s[1].issue(kinds("tt")), status::fetch_abort);
    CMDQ_CHECK_EQ(s[0].poll(*t), status::ok);
  });
}

CMDQ_TEST(a_device_that_refuses_the_replacement_too_has_failed) {
  for_all_policies(4, 1, 1, [](const setup& what) {
    stage s(what);
    s.expected = harm::breaks;
    const std::vector<command> bad = s.r.log.commands(s.r.log.ask(0, kinds("I")));
    s.r.device.stall();  // and the registers say for ever what the first report said
    const auto first = what.opts.first;
    s.r.bus.cons_filter = [=](std::uint32_t) { return first | static_cast<std::uint32_t>(cerror::ill) << 24; };
    unsigned reports = 0;
    scheduled_platform::idle = [&] {
      scheduled_platform::alone_ns += scheduler::idle_round_ns;
      if (acknowledged(s.r) && ++reports <= 10) s.r.device.raise_global(gerror::cmdq_err);
    };
    const std::uint64_t took =
        s.time_of([&] { CMDQ_CHECK_EQ(s.r->issue(0, bad.data(), 1).code, status::illegal_command); });
    CMDQ_CHECK(took < test_deadline_ns);
    CMDQ_CHECK_EQ(s.r->handle_errors().code, status::device_fault);
  });
}

// The position that an aborted MSI left behind says nothing of CMD_SYNCs 2^31 entries later.
CMDQ_TEST(an_aborted_msi_is_no_word_on_much_later_ones) {
  struct alignas(64) bare_ring {
    using P = scheduled_platform;
    using family = smmuv3::family;
    struct who {};
    options o;
    [[nodiscard]] const options& opts() const { return o; }
    [[nodiscard]] geometry shape() const { return {o.log2_size}; }
  };
  struct alignas(64) parts {
    bare_ring r;
    error_handler<bare_ring> errors{r};
  };
  static_assert(sizeof(parts) == sizeof(bare_ring) + sizeof(error_handler<bare_ring>));
  const parts of{{.o = {.first = 0U - 5}}};
  const bare_ring& r = of.r;
  const error_handler<bare_ring>& errors = of.errors;
  for (const position behind : {1U, 2U, r.shape().entries()}) CMDQ_CHECK(errors.word_void(r.o.first - behind));
  for (const position ahead : {0U, 1U, 1U << 30, (1U << 31) + 1, 3U << 30})
    CMDQ_CHECK(!errors.word_void(r.o.first + ahead));
}

// The device goes on from software CONS: nothing is lost, and what is executed once more is nobody's error.
CMDQ_TEST(recovers_after_a_reset) {
  for_all_policies(4, 1, 2, [](const setup& what) {
    setup from = what;
    from.opts.first = 0U - 5;
    stage s(from);
    const auto t = s[0].submit(kinds("t"));
    CMDQ_CHECK(t.has_value());
    s.r.device.drain();  // done, but nobody has looked
    s.r.device.plan.abort_fetch(s.r.device.next(), model::for_ever);
    s.expected = harm::breaks;
    CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::fetch_abort);
    CMDQ_CHECK_EQ(s.r->recover(), status::stalled);

    const position told = s.r.bus.told;
    const position cons = told - s.r.shape().ahead(s.r->cons_register(), s.r->prod_register());
    s.r.device.reset();
    s.r.device.plan.abort_count = 0;
    const ring_memory<scheduled_platform> m = s.r.memory();
    CMDQ_CHECK_EQ(s.r.device.attach(m.entries, from.opts.log2_size, m.device_address, cons), status::ok);
    s.r.device.write_prod(s.r->prod_register());
    s.r.log.log.clear();
    status recovered = status::stalled;
    for (int i = 0; i < 4 && recovered == status::stalled; ++i) {
      s.r.device.drain();
      recovered = s.r->recover();
    }
    CMDQ_CHECK_EQ(recovered, status::ok);
    s.r.log.failures.clear();  // a zeroed CMD_SYNC met again is none of our commands
    s.expected = harm::none;
    CMDQ_CHECK_EQ(s[0].poll(*t), status::ok);
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
    CMDQ_CHECK_EQ(s[1].issue(kinds("t")), status::ok);
    CMDQ_CHECK_EQ(s.r.log.times_executed(1), 1U);
    CMDQ_CHECK(s.r.log.times_executed(0) <= 2U);
  });
}

// The same without a reset: once the memory can be read, recover() lets the device go on.
CMDQ_TEST(recovers_when_the_ring_can_be_fetched_again) {
  for_all_policies(4, 1, 2, [](const setup& what) {
    stage s(what);
    s.r.device.plan.abort_fetch(what.opts.first, model::for_ever);
    s.expected = harm::breaks;
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::fetch_abort);
    for (int i = 0; i < 4; ++i) {
      s.r.device.drain();
      CMDQ_CHECK_EQ(s.r->recover(), status::stalled);
    }
    s.r.device.plan.abort_count = 0;  // the last abort is acknowledged
    s.r.device.drain();
    CMDQ_CHECK_EQ(s.r->recover(), status::ok);
    s.expected = harm::none;
    CMDQ_CHECK_EQ(s[0].issue(kinds("t")), status::ok);
    s.r.log.check_complete();
  });
}

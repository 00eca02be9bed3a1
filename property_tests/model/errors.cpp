// SPDX-License-Identifier: BSL-1.0
// CERROR_ILL, CERROR_ABT, CERROR_ATC_INV, SFM, and the GERROR / GERRORN handshake.
#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::device_drive;

CMDQ_TEST(illegal_command_stops_consumption_until_acknowledged) {
  rig r(3, device_drive::in_write);
  r.put(tlbi(1));
  r.put(bad());
  r.put(tlbi(3));
  r.tell();
  CMDQ_CHECK_EQ(r.device.read_gerror(), gerror::cmdq_err);
  CMDQ_CHECK_EQ(r.device.read_cons(), 1u << 24 | 1u);
  r.give(tlbi(4));
  CMDQ_CHECK_EQ(r.log.executed.size(), 1u);
  r.entries[1].put(make_sync(sync_signal::none));
  CMDQ_CHECK_EQ(r.log.executed.size(), 1u);
  r.acknowledge();
  CMDQ_CHECK_EQ(r.log.executed.size(), 4u);
  CMDQ_CHECK_EQ(r.device.read_cons(), 1u << 24 | 4u);  // ERR stays, GERROR tells
  r.give(bad());
  CMDQ_CHECK_EQ(r.device.read_gerror(), 0u);  // the second error toggles the bit back
  CMDQ_CHECK(r.error_active());
}

CMDQ_TEST(acknowledging_without_repair_fails_again) {
  rig r(3, device_drive::in_write);
  r.give(bad());
  for (int i = 0; i < 5; ++i) {
    r.acknowledge();
    CMDQ_CHECK(r.error_active());
  }
  CMDQ_CHECK_EQ(r.log.failed.size(), 6u);
  CMDQ_CHECK(r.log.executed.empty());
}

CMDQ_TEST(stale_error_code_may_be_cleared) {
  rig r(3, device_drive::in_write);
  r.device.speed.error_code = model::stale_error::cleared;
  r.give(bad());
  CMDQ_CHECK_EQ(cons_error(r.device.read_cons()), 1u);
  r.entries[0].put(make_sync(sync_signal::none));
  r.acknowledge();
  CMDQ_CHECK_EQ(r.device.read_cons(), 1u);
}

CMDQ_TEST(other_acknowledgements_do_not_resume) {
  rig r(3, device_drive::in_write);
  r.device.raise_global(gerror::evtq_abt);
  r.give(bad());
  r.entries[0].put(tlbi(1));
  r.device.write_gerrorn(gerror::evtq_abt);
  CMDQ_CHECK(r.error_active());
  CMDQ_CHECK(r.log.executed.empty());
  r.device.write_gerrorn(gerror::evtq_abt | gerror::cmdq_err);
  CMDQ_CHECK_EQ(r.log.executed.size(), 1u);
}

CMDQ_TEST(fetch_abort_repeats_as_often_as_told) {
  property([] {
    const auto times = *rc::gen::inRange(0u, 6u);
    const auto where = *rc::gen::inRange(0u, 4u);
    const auto start = *rc::gen::arbitrary<uint32_t>();
    rig r(3, device_drive::in_write, {}, start);
    CMDQ_CHECK(r.device.plan.abort_fetch(start + where, times));
    for (uint64_t i = 0; i < 4; ++i) r.put(tlbi(i));
    r.tell();
    for (unsigned i = 0; i < times; ++i) {
      CMDQ_CHECK(r.error_active());
      CMDQ_CHECK_EQ(r.device.read_cons(), 2u << 24 | r.shape.to_register(start + where));
      r.acknowledge();
    }
    CMDQ_CHECK(!r.error_active());
    CMDQ_CHECK_EQ(r.log.executed.size(), 4u);
  });
}

CMDQ_TEST(fetch_abort_for_ever_and_unbacked_ring) {
  rig r(3, device_drive::in_write);
  CMDQ_CHECK(r.device.plan.abort_fetch(0, model::for_ever));
  r.give(tlbi(1));
  for (int i = 0; i < 100; ++i) r.acknowledge();
  CMDQ_CHECK(r.error_active());
  for (uint32_t i = 1; i < model::faults::capacity; ++i) CMDQ_CHECK(r.device.plan.abort_fetch(i, 1));
  CMDQ_CHECK(!r.device.plan.abort_fetch(99, 1));

  rig s(3, device_drive::in_write);
  s.device.memory = {};  // nothing behind CMDQ_BASE
  s.give(tlbi(1));
  CMDQ_CHECK_EQ(s.device.read_cons(), 2u << 24);
}

CMDQ_TEST(dead_stream_is_reported_by_the_covering_sync) {
  rig r(4, device_drive::in_write);
  CMDQ_CHECK(r.device.plan.kill_stream(7));
  for (const uint32_t sid : {5u, 6u, 7u, 8u}) r.put(made(smmuv3::atc_inv{.sid = sid, .size = 52}));
  const position sync = r.prod;
  r.put(make_msi_sync(r.address(sync), 0));
  r.put(tlbi(1));
  r.tell();
  CMDQ_CHECK_EQ(r.device.read_cons(), 3u << 24 | sync);
  CMDQ_CHECK_EQ(r.log.executed.size(), 4u);  // the ATC_INVs themselves are consumed
  CMDQ_CHECK_EQ(r.entries[sync].get().word[0], make_msi_sync(0, 0).word[0]);
  r.acknowledge();
  CMDQ_CHECK_EQ(r.log.executed.size(), 6u);
  CMDQ_CHECK_EQ(static_cast<uint32_t>(r.entries[sync].get().word[0]), 0u);
  r.put(made(smmuv3::atc_inv{.sid = 8}));
  r.give(make_sync(sync_signal::none));  // covers nothing dead
  CMDQ_CHECK(!r.error_active());
  r.put(made(smmuv3::atc_inv{.sid = 7}));
  r.give(make_sync(sync_signal::none));
  CMDQ_CHECK(r.error_active());  // dead again
}

CMDQ_TEST(dead_stream_may_report_k_times_or_for_ever) {
  for (const uint32_t times : {0u, 3u, model::for_ever}) {
    rig r(4, device_drive::in_write);
    CMDQ_CHECK(r.device.plan.kill_stream(7, times));
    r.put(made(smmuv3::atc_inv{.sid = 7}));
    r.give(make_sync(sync_signal::none));
    uint32_t seen = 0;
    while (r.error_active() && seen < 20) {
      ++seen;
      r.acknowledge();
    }
    CMDQ_CHECK_EQ(seen, times == model::for_ever ? 20u : times);
  }
}

CMDQ_TEST(service_failure_stops_for_good) {
  rig r(3, device_drive::in_write);
  r.device.raise_global(gerror::sfm);
  CMDQ_CHECK_EQ(r.device.read_gerror(), gerror::sfm);
  r.give(tlbi(1));
  r.acknowledge();
  CMDQ_CHECK_EQ(r.device.read_gerror(), r.device.read_gerrorn());
  r.tell();
  CMDQ_CHECK(r.log.executed.empty());
  r.device.reset();
  CMDQ_CHECK_EQ(r.device.attach(r.entries.data(), 3, ring_base), status::ok);
  r.tell();
  CMDQ_CHECK_EQ(r.log.executed.size(), 1u);
}

/// Any stream of good and bad commands: each good one is executed once and in order, each bad one stops the device at
/// its own position, CONS and GERROR tell which.
CMDQ_TEST(handshake_over_any_stream) {
  property([] {
    const auto stream = *rc::gen::container<std::vector<bool>>(rc::gen::weightedElement<bool>({{4, true}, {1, false}}));
    const auto drive = *rc::gen::element(device_drive::in_write, device_drive::stepped);
    rig r(3, drive, {}, 0xfffffffd);
    std::vector<position> good;
    for (const bool ok : stream) {
      const position at_position = r.prod;
      if (ok) good.push_back(at_position);
      r.give(ok ? tlbi(at_position) : bad());
      if (drive == device_drive::stepped) r.device.drain();
      CMDQ_CHECK_EQ(r.error_active(), !ok);
      if (ok) continue;
      CMDQ_CHECK_EQ(r.device.read_cons(), 1u << 24 | r.shape.to_register(at_position));
      CMDQ_CHECK_EQ(r.log.failed.back().at, at_position);
      r.entries[r.shape.slot(at_position)].put(make_sync(sync_signal::none));
      r.acknowledge();
      good.push_back(at_position);
      if (drive == device_drive::stepped) r.device.drain();
    }
    CMDQ_CHECK_EQ(r.log.executed.size(), good.size());
    for (size_t i = 0; i < good.size(); ++i) CMDQ_CHECK_EQ(r.log.executed[i].at, good[i]);
    CMDQ_CHECK_EQ(r.device.odd.total(), 0u);
  });
}

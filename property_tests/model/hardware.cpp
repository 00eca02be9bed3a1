// SPDX-License-Identifier: BSL-1.0
// The consumer as a whole: what is accepted, how completions are signalled.
#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::device_drive;

CMDQ_TEST(bug_L68_cs_3_is_illegal) {
  for (unsigned cs = 0; cs < 4; ++cs) {
    rig r(3, device_drive::in_write);
    r.give({{opcode_sync | static_cast<uint64_t>(cs) << 12, 0}});
    CMDQ_CHECK_EQ(r.error_active(), cs == 3);
    CMDQ_CHECK_EQ(cons_error(r.device.read_cons()), cs == 3 ? 1u : 0u);
    CMDQ_CHECK_EQ(r.cons_index(), cs == 3 ? 0u : 1u);
  }
}

CMDQ_TEST(bug_L68_cons_is_writable_while_cmdqen_is_0) {
  rig r(3, device_drive::in_write);
  namespace offset = model::offset;
  CMDQ_CHECK_EQ(r.device.write(offset::cmdq_cons, 5), status::invalid_argument);
  CMDQ_CHECK_EQ(r.device.write(offset::cr0, 0), status::ok);
  CMDQ_CHECK_EQ(r.device.write(offset::cmdq_cons, 5), status::ok);
  CMDQ_CHECK_EQ(r.device.read(offset::cmdq_cons), 5u);
}

CMDQ_TEST(bug_L69_opcode_sweep) {
  const auto known = [](unsigned op) {
    for (unsigned k : {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x13, 0x20,
                       0x21, 0x22, 0x28, 0x2a, 0x30, 0x40, 0x41, 0x44, 0x45, 0x46})
      if (k == op) return true;
    return false;
  };
  for (unsigned op = 0; op < 256; ++op) {
    rig r(3, device_drive::in_write);
    r.give({{op, 0}});
    CMDQ_CHECK_EQ(r.error_active(), !known(op));
    CMDQ_CHECK_EQ(r.log.executed.size(), known(op) ? 1u : 0u);
  }
}

CMDQ_TEST(reserved_bits_are_illegal) {
  // One bit at a time over all 128: exactly the named fields of TLBI_NH_VA and of CMD_SYNC may be set (TG alone is a
  // range of nothing, so illegal as well).
  const struct {
    uint64_t op;
    uint64_t may[2];
  } rows[] = {{0x12, {0xffffffff01f1f0ff, 0xfffffffffffff301}}, {0x46, {0xffffffff0fc030ff, 0x000ffffffffffffc}}};
  for (const auto& row : rows) {
    for (unsigned bit = 8; bit < 128; ++bit) {
      rig r(3, device_drive::in_write);
      command c{{row.op, 0}};
      c.word[bit / 64] |= 1ULL << bit % 64;
      r.log.accept_external = true;
      r.give(c);
      CMDQ_CHECK_EQ(r.error_active(), (row.may[bit / 64] >> bit % 64 & 1) == 0);
    }
  }
}

CMDQ_TEST(illegal_range_is_illegal_and_needs_ril) {
  const command one_page{{0x12, 1ULL << 10}};  // TG = 1, NUM = SCALE = TTL = 0
  const command two_pages{{0x12 | 1ULL << 12, 1ULL << 10}};
  for (const bool ril : {false, true}) {
    model::capabilities caps;
    caps.ril = ril;
    rig a(3, device_drive::in_write, caps);
    a.give(one_page);
    CMDQ_CHECK(a.error_active());
    rig b(3, device_drive::in_write, caps);
    b.give(two_pages);
    CMDQ_CHECK_EQ(b.error_active(), !ril);
  }
}

CMDQ_TEST(capabilities_decide_what_is_accepted) {
  const struct {
    uint64_t op;
    bool model::capabilities::*needs;
  } rows[] = {{0x40, &model::capabilities::ats},
              {0x41, &model::capabilities::pri},
              {0x20, &model::capabilities::hyp},
              {0x21, &model::capabilities::hyp},
              {0x22, &model::capabilities::hyp}};
  for (const auto& row : rows) {
    model::capabilities caps;
    caps.*row.needs = false;
    rig r(3, device_drive::in_write, caps);
    r.give({{row.op, 0}});
    CMDQ_CHECK(r.error_active());
  }
}

CMDQ_TEST(r15_no_msi_is_sent_to_address_0) {
  std::vector<entry_t> entries(8);
  observer::log log;
  observer hooks;
  hooks.to = &log;
  device_t device(model::device_drive::in_write, {}, hooks);
  CMDQ_CHECK_EQ(device.attach(entries.data(), 3, 0), status::ok);
  entries[0].put(make_msi_sync(0, 0));
  entries[1].put(make_msi_sync(16, 0));
  device.write_prod(2);
  CMDQ_CHECK_EQ(cons_position(device.read_cons()), 2U);
  CMDQ_CHECK(entries[0].get() == make_msi_sync(0, 0));
  CMDQ_CHECK_EQ(entries[1].get().word[0] & 0xffffffffU, 0U);
  CMDQ_CHECK_EQ(log.wired, 1U);
}

CMDQ_TEST(r22_asid_and_vmid_bits_that_are_not_there_are_reserved) {
  for (const bool wide : {false, true}) {
    model::capabilities caps;
    caps.asid16 = caps.vmid16 = wide;
    for (const command& c : {made(smmuv3::tlbi_nh_asid{.asid = 0x100}), made(smmuv3::tlbi_nh_all{.vmid = 0x100}),
                             made(smmuv3::tlbi_el2_asid{.asid = 0x8000})}) {
      rig r(3, device_drive::in_write, caps);
      r.give(c);
      CMDQ_CHECK_EQ(r.error_active(), !wide);
    }
  }
}

CMDQ_TEST(bug_L70_setup_with_cons_not_zero) {
  property([] {
    const auto log2 = *rc::gen::inRange(2u, 6u);
    const auto start = *rc::gen::arbitrary<uint32_t>();
    rig r(log2, device_drive::in_write, {}, start);
    r.give(tlbi(1));
    r.give(make_sync(sync_signal::none));
    CMDQ_CHECK_EQ(r.log.executed.size(), 2u);
    CMDQ_CHECK_EQ(r.log.executed[0].at, start);
    CMDQ_CHECK_EQ(r.cons_index(), r.shape.to_register(start + 2));
  });
}

CMDQ_TEST(bug_L77_effects_come_before_completion) {
  // The MSI word is written only when all effects before the CMD_SYNC are there, also when they are deferred.
  for (const bool defer : {false, true}) {
    rig r;
    r.device.speed.defer_effects = defer;
    for (uint64_t i = 0; i < 3; ++i) r.put(tlbi(i + 1));
    const position sync = r.prod;
    r.give(make_msi_sync(r.address(sync), 0));
    for (int steps = 0; static_cast<uint32_t>(r.entries[sync].get().word[0]) != 0; ++steps) {
      CMDQ_CHECK(steps < 100);
      CMDQ_CHECK_EQ(r.cons_index() == r.prod, false);
      r.device.step();
    }
    CMDQ_CHECK_EQ(r.log.effects.size(), 3u);
  }
}

CMDQ_TEST(deferred_effects_are_not_there_when_cons_has_passed) {
  rig r;
  r.device.speed.defer_effects = true;
  r.give(tlbi(1));
  r.device.drain();
  CMDQ_CHECK_EQ(r.cons_index(), 1u);
  CMDQ_CHECK(r.log.effects.empty());
  r.give(make_sync(sync_signal::none));
  r.device.drain();
  CMDQ_CHECK_EQ(r.log.effects.size(), 1u);
}

CMDQ_TEST(bug_L77_failing_msi_is_not_complete) {
  rig r(3, device_drive::in_write);
  r.device.plan.failing_msis = 1;
  const command sync = make_msi_sync(r.address(0), 0);
  r.give(sync);
  CMDQ_CHECK(r.entries[0].get() == sync);  // nothing written
  CMDQ_CHECK_EQ(r.device.read_gerror(), gerror::msi_cmdq_abt);
  CMDQ_CHECK_EQ(r.cons_index(), 1u);
  r.acknowledge();
  r.give(make_msi_sync(r.address(1), 0));
  CMDQ_CHECK_EQ(static_cast<uint32_t>(r.entries[1].get().word[0]), 0u);
  CMDQ_CHECK_EQ(r.device.read_gerror(), gerror::msi_cmdq_abt);  // no new error
}

CMDQ_TEST(msi_to_nowhere_aborts) {
  rig r(3, device_drive::in_write);
  r.log.accept_external = false;
  r.give(make_msi_sync(0x1234'0000, 7));
  CMDQ_CHECK_EQ(r.device.read_gerror(), gerror::msi_cmdq_abt);
  r.log.accept_external = true;
  r.acknowledge();
  r.give(make_msi_sync(0x1234'0000, 7));
  CMDQ_CHECK(r.log.external == std::vector<uint64_t>{0x1234'0000 ^ 7});
}

CMDQ_TEST(bug_L51_msi_width) {
  for (const bool wide : {false, true}) {
    model::capabilities caps;
    caps.part.msi_64bit = wide;
    rig r(3, device_drive::in_write, caps);
    const command neighbour = tlbi(0x77);
    r.entries[1].put(neighbour);
    const command sync = make_msi_sync(r.address(0), 0x12345678);
    r.give(sync);
    const command after = r.entries[0].get();
    CMDQ_CHECK_EQ(after.word[0], wide ? 0x12345678u : (sync.word[0] & ~0xffffffffULL) | 0x12345678u);
    CMDQ_CHECK_EQ(after.word[1], sync.word[1]);
    CMDQ_CHECK(r.entries[1].get() == neighbour);
  }
}

CMDQ_TEST(msi_into_the_upper_half) {
  rig r(3, device_drive::in_write);
  r.entries[5].put({{0x1111111122222222, 3}});
  r.give(make_msi_sync(r.address(5) + 4, 9));
  CMDQ_CHECK_EQ(r.entries[5].get().word[0], 0x0000000922222222u);
  r.give(make_msi_sync(r.address(5) + 8, 9));  // word 1 is not the device's
  CMDQ_CHECK_EQ(r.device.read_gerror(), gerror::msi_cmdq_abt);
  CMDQ_CHECK_EQ(r.entries[5].get().word[1], 3u);
}

CMDQ_TEST(events_and_interrupts) {
  rig r(3, device_drive::in_write);
  r.device.plan.lost_events = 1;
  r.give(make_sync(sync_signal::event));
  CMDQ_CHECK_EQ(r.log.events, 0u);
  r.give(make_sync(sync_signal::event));
  r.give(make_sync(sync_signal::none));
  CMDQ_CHECK_EQ(r.log.events, 1u);
  r.give(make_msi_sync(0, 0));
  CMDQ_CHECK_EQ(r.log.wired, 1u);

  model::capabilities none;
  none.sev = none.msi = false;
  rig s(3, device_drive::in_write, none);
  s.give(make_sync(sync_signal::event));
  s.give(make_msi_sync(s.address(1), 0));
  CMDQ_CHECK_EQ(s.log.events, 0u);
  CMDQ_CHECK_EQ(s.log.wired, 1u);
  CMDQ_CHECK(s.entries[1].get() == make_msi_sync(s.address(1), 0));
}

CMDQ_TEST(recording_keeps_what_fits_and_counts_the_rest) {
  model::record buffer[2];
  model::recording log(buffer, 2);
  model::hardware<platform_t, entry_t, model::recording_hooks> device(device_drive::in_write, {},
                                                                      model::recording_hooks(log));
  std::vector<entry_t> entries(4);
  CMDQ_CHECK_EQ(device.attach(entries.data(), 2, ring_base, 8), status::ok);
  for (uint64_t i = 0; i < 3; ++i) entries[i].put(tlbi(i));
  device.write_prod(geometry{2}.to_register(11));
  CMDQ_CHECK_EQ(log.seen(), 3u);
  CMDQ_CHECK_EQ(log.kept(), 2u);
  CMDQ_CHECK(log.overflowed());
  CMDQ_CHECK_EQ(log[1].at, 9u);
  CMDQ_CHECK(log[1].what == tlbi(1));
}

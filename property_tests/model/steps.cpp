// SPDX-License-Identifier: BSL-1.0
// The consumer one step at a time: what may be late, and what may never be.
#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::step_result;

CMDQ_TEST(one_command_takes_four_steps) {
  rig r;
  CMDQ_CHECK_EQ(r.device.step(), step_result::idle);
  r.give(tlbi(1));
  CMDQ_CHECK_EQ(r.device.step(), step_result::fetched);
  r.entries[0].put(bad());  // too late: the device has its copy
  CMDQ_CHECK_EQ(r.device.step(), step_result::executed);
  CMDQ_CHECK(r.log.executed.at(0).what == tlbi(1));
  CMDQ_CHECK_EQ(r.device.step(), step_result::completed);
  CMDQ_CHECK_EQ(r.cons_index(), 0u);
  CMDQ_CHECK_EQ(r.device.step(), step_result::moved);
  CMDQ_CHECK_EQ(r.cons_index(), 1u);
  CMDQ_CHECK_EQ(r.device.step(), step_result::idle);
}

CMDQ_TEST(stall_and_resume) {
  rig r;
  r.give(tlbi(1));
  r.device.step();
  r.device.stall();
  for (int i = 0; i < 10; ++i) CMDQ_CHECK_EQ(r.device.step(), step_result::held);
  CMDQ_CHECK(r.log.executed.empty());
  r.device.resume();
  r.device.drain();
  CMDQ_CHECK_EQ(r.log.executed.size(), 1u);

  rig s(3, model::device_drive::in_write);
  s.device.stall();
  s.give(tlbi(1));
  CMDQ_CHECK(s.log.executed.empty());
  s.device.resume();  // consumes inside the call
  CMDQ_CHECK_EQ(s.cons_index(), 1u);
}

CMDQ_TEST(lazy_cons_moves_late_but_moves) {
  property([] {
    const auto every = *rc::gen::inRange(1u, 12u);
    const auto idle = *rc::gen::inRange(0u, 10u);
    const auto count = *rc::gen::inRange(1u, 9u);
    rig r;
    r.device.speed.cons_every = every;
    r.device.speed.cons_idle_steps = idle;
    for (unsigned i = 0; i < count; ++i) r.put(tlbi(i));
    r.tell();
    unsigned waits = 0;
    for (step_result s = r.device.step(); s != step_result::idle; s = r.device.step()) {
      CMDQ_CHECK(r.cons_index() % every == 0 || r.log.executed.size() == count);
      waits += s == step_result::waiting ? 1 : 0;
    }
    CMDQ_CHECK_EQ(r.cons_index(), count);
    CMDQ_CHECK_EQ(waits, count % every == 0 ? 0 : idle);
  });
}

CMDQ_TEST(late_msi_arrives_after_its_steps) {
  property([] {
    const auto late = *rc::gen::inRange(1u, 50u);
    rig r;
    r.device.speed.msi_late_steps = late;
    r.give(make_msi_sync(r.address(0), 0));
    for (int i = 0; i < 3; ++i) r.device.step();
    for (unsigned i = 1; i < late; ++i) {
      CMDQ_CHECK(r.device.step() != step_result::late_msi);
      CMDQ_CHECK(r.entries[0].get().word[0] != 0u);
    }
    CMDQ_CHECK_EQ(r.device.step(), step_result::late_msi);
    CMDQ_CHECK_EQ(r.entries[0].get().word[0], 0u);
  });
}

CMDQ_TEST(late_msis_are_never_lost) {
  rig r(6);
  r.device.speed.msi_late_steps = 100000;
  for (uint32_t i = 0; i < 60; ++i) r.put(make_msi_sync(r.address(i), 0));  // more than can be under way
  r.tell();
  r.device.drain();
  for (uint32_t i = 0; i < 60; ++i) CMDQ_CHECK_EQ(r.entries[i].get().word[0], 0u);
}

CMDQ_TEST(prod_moved_back_or_too_far_is_counted) {
  rig r(3, model::device_drive::in_write);
  for (uint64_t i = 0; i < 8; ++i) r.entries[i].put(tlbi(i));
  r.device.stall();
  r.device.write_prod(4);
  r.device.resume();
  CMDQ_CHECK_EQ(r.device.odd.total(), 0u);
  r.device.write_prod(3);  // behind CONS: the ring is consumed again
  CMDQ_CHECK_EQ(r.device.odd.prod_moved_wrongly, 1u);
  CMDQ_CHECK_EQ(r.log.executed.size(), 4u + 15u);
  CMDQ_CHECK_EQ(r.cons_index(), 3u);
}

CMDQ_TEST(full_ring_is_no_anomaly) {
  for (uint32_t start = 0; start < 16; ++start) {
    rig r(3, model::device_drive::stepped, {}, start);
    for (uint64_t i = 0; i < 8; ++i) r.put(tlbi(i));
    r.tell();
    r.device.drain();
    CMDQ_CHECK_EQ(r.device.odd.total(), 0u);
    CMDQ_CHECK_EQ(r.log.executed.size(), 8u);
  }
}

struct action {
  enum kind : uint8_t { insert, step, stall, resume } what = step;
  uint8_t count = 1;
};

namespace rc {
template <>
struct Arbitrary<action> {
  static Gen<action> arbitrary() {
    return gen::build<action>(
        gen::set(&action::what, gen::weightedElement<action::kind>(
                                    {{4, action::insert}, {8, action::step}, {1, action::stall}, {2, action::resume}})),
        gen::set(&action::count, gen::inRange<uint8_t>(1, 6)));
  }
};
}  // namespace rc

/// Whatever the pace and the schedule: CONS never leads what was executed, every command is executed once and in order,
/// an MSI word changes only after its CMD_SYNC, and after everything is let go all is done.
CMDQ_TEST(any_schedule) {
  property([](const std::vector<action>& schedule, uint32_t start) {
    rig r(3, model::device_drive::stepped, {}, start);
    r.device.speed.cons_every = *rc::gen::inRange(1u, 10u);
    r.device.speed.cons_idle_steps = *rc::gen::inRange(0u, 4u);
    r.device.speed.msi_late_steps = *rc::gen::inRange(0u, 12u);
    r.device.speed.defer_effects = *rc::gen::arbitrary<bool>();
    position cons = start;
    const auto look = [&] {
      const uint32_t ahead = r.shape.ahead(cons, r.cons_index());
      cons += ahead;
      const auto done = static_cast<uint32_t>(r.log.executed.size());
      CMDQ_CHECK(ahead <= r.shape.entries());
      CMDQ_CHECK(cons - start <= done);
      CMDQ_CHECK(done <= r.prod - start);
    };
    for (const action& a : schedule) {
      for (unsigned i = 0; i < a.count; ++i) {
        const command there = r.entries[r.shape.slot(r.prod)].get();
        const bool msi_under_way = opcode_of(there.word[0]) == opcode_sync;  // it would hit the next lap's command
        if (a.what == action::insert && r.prod - cons < r.shape.entries() && !msi_under_way)
          r.give(r.prod % 3 == 0 ? make_msi_sync(r.address(r.prod), 0) : tlbi(r.prod));
        if (a.what == action::step) r.device.step();
        if (a.what == action::stall) r.device.stall();
        if (a.what == action::resume) r.device.resume();
        look();
      }
    }
    r.device.resume();
    r.device.drain();
    look();
    CMDQ_CHECK_EQ(cons, r.prod);
    CMDQ_CHECK_EQ(r.log.executed.size(), r.prod - start);
    for (uint32_t i = 0; i < r.log.executed.size(); ++i) CMDQ_CHECK_EQ(r.log.executed[i].at, start + i);
    CMDQ_CHECK_EQ(r.device.odd.total(), 0u);
  });
}

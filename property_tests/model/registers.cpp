// SPDX-License-Identifier: BSL-1.0
// Who may write what, and when.
#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
namespace offset = model::offset;
using registers_t = model::register_file<platform_t>;

CMDQ_TEST(identification_registers) {
  model::capabilities c;
  registers_t all(c);
  CMDQ_CHECK_EQ(all.read(offset::idr0), 0x0845761bu);
  CMDQ_CHECK_EQ(all.read(offset::idr1) >> 21 & 31, 19u);
  CMDQ_CHECK_EQ(all.read(offset::idr3), 1u << 10);
  CMDQ_CHECK_EQ(all.read(offset::iidr), 0x43bu);
  c.cohacc = c.ats = c.pri = c.msi = c.sev = c.hyp = c.ril = c.asid16 = c.vmid16 = false;
  c.cmdqs = 8;
  registers_t none(c);
  CMDQ_CHECK_EQ(none.read(offset::idr0), 0x0840000bu);
  CMDQ_CHECK_EQ(none.read(offset::idr1) >> 21 & 31, 8u);
  CMDQ_CHECK_EQ(none.read(offset::idr3), 0u);
}

CMDQ_TEST(read_only_registers_refuse) {
  registers_t r{model::capabilities{}};
  for (const uint32_t at_offset :
       {offset::idr0, offset::idr1, offset::idr3, offset::idr5, offset::iidr, offset::cr0ack, offset::gerror}) {
    const uint64_t before = r.read(at_offset);
    CMDQ_CHECK_EQ(r.write(at_offset, ~before & 0xffffffffU), status::invalid_argument);
    CMDQ_CHECK_EQ(r.read(at_offset), before);
  }
  CMDQ_CHECK_EQ(r.write(0x1000, 0), status::out_of_range);
  CMDQ_CHECK_EQ(r.write(0x21, 0), status::out_of_range);
  CMDQ_CHECK_EQ(r.read(0x1000), 0u);
}

CMDQ_TEST(only_named_bits_are_writable) {
  const struct {
    uint32_t at_offset;
    uint64_t bits;
  } rows[] = {{offset::cr0, 0x5df},     {offset::cr1, 0xfff},         {offset::cr2, 7},
              {offset::gerrorn, 0x1fd}, {offset::cmdq_prod, 0xfffff}, {offset::cmdq_cons, 0x7f0fffff}};
  for (const auto& row : rows) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      registers_t r{model::capabilities{}};
      const status s = r.write(row.at_offset, 1ULL << bit);
      const status refused = bit < 32 ? status::invalid_argument : status::out_of_range;
      CMDQ_CHECK_EQ(s, (row.bits >> bit & 1) != 0 ? status::ok : refused);
      CMDQ_CHECK_EQ(r.read(row.at_offset), s == status::ok ? 1ULL << bit : 0);
    }
  }
}

CMDQ_TEST(cmdq_base_is_aligned_and_limited) {
  model::capabilities c;
  c.cmdqs = 10;
  for (uint32_t log2 = 0; log2 < 32; ++log2) {
    registers_t r{c};
    const uint64_t size = log2 == 0 ? 32 : 16ULL << log2;
    CMDQ_CHECK_EQ(r.write(offset::cmdq_base, 8 * size | log2), log2 <= 10 ? status::ok : status::out_of_range);
    if (log2 > 10) continue;
    CMDQ_CHECK_EQ(r.read(offset::cmdq_base), 8 * size | log2);
    if (size > 32) CMDQ_CHECK_EQ(r.write(offset::cmdq_base, (8 * size + size / 2) | log2), status::misaligned);
  }
  registers_t r{c};
  for (const unsigned reserved : {52u, 61u, 63u})
    CMDQ_CHECK_EQ(r.write(offset::cmdq_base, 1ULL << reserved), status::invalid_argument);
  CMDQ_CHECK_EQ(r.write(offset::cmdq_base, 1ULL << 62 | 8), status::ok);
  registers_t big{model::capabilities{.cmdqs = 31}};
  CMDQ_CHECK_EQ(big.write(offset::cmdq_base, 20), status::out_of_range);  // 19 is the architecture's limit
}

CMDQ_TEST(enabled_queue_protects_its_registers) {
  rig r;
  CMDQ_CHECK_EQ(r.device.write(offset::cmdq_base, ring_base | 2), status::invalid_argument);
  CMDQ_CHECK_EQ(r.device.write(offset::cmdq_cons, 0), status::invalid_argument);
  CMDQ_CHECK_EQ(r.device.write(offset::cr1, 0), status::invalid_argument);
  CMDQ_CHECK_EQ(r.device.write(offset::cr0, 0), status::ok);
  CMDQ_CHECK_EQ(r.device.write(offset::cmdq_base, ring_base | 2), status::invalid_argument);  // not acknowledged yet
  CMDQ_CHECK_EQ(r.device.step(), model::step_result::control);
  CMDQ_CHECK_EQ(r.device.write(offset::cmdq_base, ring_base | 2), status::ok);
}

CMDQ_TEST(cr0_takes_effect_when_cr0ack_shows_it) {
  property([] {
    const auto lag = *rc::gen::inRange(0u, 20u);
    rig r;
    r.device.speed.cr0ack_steps = lag;
    r.give(tlbi(1));
    CMDQ_CHECK_EQ(r.device.write(offset::cr0, 0), status::ok);
    for (unsigned i = 0; i < lag; ++i) {
      CMDQ_CHECK_EQ(r.device.read(offset::cr0ack), 8u);
      CMDQ_CHECK_EQ(r.device.step(), model::step_result::waiting);
    }
    CMDQ_CHECK_EQ(r.device.step(), model::step_result::control);
    CMDQ_CHECK_EQ(r.device.read(offset::cr0ack), 0u);
    CMDQ_CHECK_EQ(r.device.step(), model::step_result::disabled);
    CMDQ_CHECK(r.log.executed.empty());
    CMDQ_CHECK_EQ(r.device.write(offset::cr0, 8), status::ok);
    r.device.drain();
    CMDQ_CHECK_EQ(r.log.executed.size(), 1u);  // what was in the ring is consumed once the queue is on
  });
}

CMDQ_TEST(attach_refuses_what_a_driver_may_not_do) {
  std::vector<entry_t> entries(8);
  device_t d(model::device_drive::in_write, model::capabilities{.cmdqs = 3});
  CMDQ_CHECK_EQ(d.attach(nullptr, 3, ring_base), status::invalid_argument);
  CMDQ_CHECK_EQ(d.attach(entries.data(), 20, ring_base), status::out_of_range);
  CMDQ_CHECK_EQ(d.attach(entries.data(), 4, ring_base), status::out_of_range);
  CMDQ_CHECK_EQ(d.attach(entries.data(), 3, ring_base + 64), status::misaligned);
  CMDQ_CHECK_EQ(d.attach(entries.data(), 3, ring_base), status::ok);
}

CMDQ_TEST(reset_is_a_power_cycle) {
  rig r(3, model::device_drive::in_write);
  r.give(bad());
  CMDQ_CHECK(r.error_active());
  r.device.reset();
  CMDQ_CHECK_EQ(r.device.read_gerror(), 0u);
  CMDQ_CHECK_EQ(r.device.read(offset::cr0ack), 0u);
  r.prod = 4;
  CMDQ_CHECK_EQ(r.device.attach(r.entries.data(), 3, ring_base, 4), status::ok);
  r.give(tlbi(1));
  CMDQ_CHECK_EQ(r.log.executed.size(), 1u);
  CMDQ_CHECK_EQ(r.log.executed[0].at, 4u);
}

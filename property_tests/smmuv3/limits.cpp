// SPDX-License-Identifier: BSL-1.0
// What a queue is told of its device, and which commands it refuses for it.
#include <cmdq/model/legality.hpp>
#include <cmdq/smmuv3/capabilities.hpp>
#include <cmdq/smmuv3/commands.hpp>

#include "support/asked.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::smmuv3;

namespace {

void check_refusal(const refusal& r, status code, const char* field, std::uint64_t value, std::uint64_t limit) {
  CMDQ_CHECK_EQ(r.code, code);
  CMDQ_CHECK_EQ(std::string(r.field), field);
  CMDQ_CHECK_EQ(r.value, value);
  CMDQ_CHECK_EQ(r.limit, limit);
}

model::capabilities some_device() {
  model::capabilities c;
  for (bool model::capabilities::*flag :
       {&model::capabilities::cohacc, &model::capabilities::ats, &model::capabilities::pri, &model::capabilities::msi,
        &model::capabilities::sev, &model::capabilities::hyp, &model::capabilities::ril, &model::capabilities::asid16,
        &model::capabilities::vmid16})
    c.*flag = *rc::gen::arbitrary<bool>();
  const auto row = *rc::gen::inRange<std::size_t>(0, std::size(quirk_table) + 1);
  if (row < std::size(quirk_table)) c.part = quirk_table[row].flags;
  return c;
}

/// Of any opcode, each field 0, as large as it may be, or in between.
command some_legal_command() {
  const layout& l = layouts[*rc::gen::inRange<std::size_t>(0, std::size(layouts))];
  any_command c;
  c.op = l.op;
  for (std::size_t i = 0; i < l.count; ++i) {
    const field_bits& f = l.fields[i];
    const std::uint64_t any = *rc::gen::arbitrary<std::uint64_t>();
    const std::uint64_t within = f.kind == field_kind::address ? any & f.mask() : any % (f.max() + 1);
    c.set(f.id, *rc::gen::element<std::uint64_t>(0, f.max(), within));
  }
  if (illegal_range(c)) c.set(field::num, 1);
  const auto made = encode(c);
  CMDQ_CHECK(made.ok());
  return *made;
}

}  // namespace

CMDQ_TEST(r22_asid_and_vmid_within_the_devices_widths) {
  model::capabilities narrow;
  narrow.asid16 = narrow.vmid16 = false;
  const device_limits d = fit({}, test::asked(narrow)).device;
  CMDQ_CHECK(d.asid_bits == 8 && d.vmid_bits == 8 && d.restricts_commands());
  check_refusal(permits(d, *encode(tlbi_nh_asid{.asid = 0x1234})), status::out_of_range, "asid", 0x1234, 0xff);
  check_refusal(permits(d, *encode(tlbi_nh_va{.asid = 0x100})), status::out_of_range, "asid", 0x100, 0xff);
  check_refusal(permits(d, *encode(tlbi_s2_ipa{.vmid = 0x100})), status::out_of_range, "vmid", 0x100, 0xff);
  check_refusal(permits(d, *encode(tlbi_nh_all{.vmid = 0xffff})), status::out_of_range, "vmid", 0xffff, 0xff);
  CMDQ_CHECK_EQ(permits(d, *encode(tlbi_nh_va{.vmid = 0xff, .asid = 0xff})).code, status::ok);
  const device_limits wide = fit({}, test::asked({})).device;
  CMDQ_CHECK_EQ(permits(wide, *encode(tlbi_nh_asid{.vmid = 0xffff, .asid = 0xffff})).code, status::ok);
}

CMDQ_TEST(r22_range_fields_need_ril) {
  model::capabilities caps;
  caps.ril = false;
  const device_limits d = fit({}, test::asked(caps)).device;
  const auto ranged = *encode(tlbi_nh_va{.num = 3, .scale = 1, .ttl = 3, .tg = 1});
  check_refusal(permits(d, ranged), status::invalid_argument, "num and scale", 3ULL << 12 | 1ULL << 20, 0);
  check_refusal(permits(d, *encode(tlbi_nh_va{.ttl = 3})), status::invalid_argument, "ttl and tg", 3ULL << 8, 0);
  CMDQ_CHECK_EQ(permits(d, *encode(tlbi_nh_va{.leaf = true, .addr = ~0xfffULL})).code, status::ok);
  CMDQ_CHECK_EQ(permits(fit({}, test::asked({})).device, ranged).code, status::ok);
}

CMDQ_TEST(r23_only_what_the_queue_may_issue) {
  model::capabilities guest;
  guest.part = find_quirk("tegra241_guest")->flags;
  const options o = fit({}, test::asked(guest));
  for (const layout& l : layouts) {
    const bool may =
        l.op == opcode::tlbi_nh_asid || l.op == opcode::tlbi_nh_va || l.op == opcode::atc_inv || l.op == opcode::sync;
    const auto op = static_cast<std::uint8_t>(l.op);
    if (may)
      CMDQ_CHECK_EQ(permits(o.device, {{op, 0}}).code, status::ok);
    else
      check_refusal(permits(o.device, {{op, 0}}), status::invalid_argument, "opcode", op, 0);
  }
  CMDQ_CHECK(o.restricted() && o.signal == sync_signal::none && !o.device.msi && !o.device.event);
  model::capabilities tegra264;
  tegra264.part = find_quirk("tegra264_repeat")->flags;
  CMDQ_CHECK(!fit({}, test::asked(tegra264)).device.opcodes.has(opcode_atc_inv));
}

CMDQ_TEST(limits_of_a_device_that_was_not_asked) {
  constexpr device_limits d;
  CMDQ_CHECK(!d.restricts_commands() && !options{}.restricted());
  test::property([](std::uint64_t w0, std::uint64_t w1) {
    CMDQ_CHECK(permits(device_limits{}, {{w0, w1}}).code == status::ok);
  });
}

// The two sides know the device by different texts: the queue by masks, the model by the table of fields.
CMDQ_TEST(queue_refuses_exactly_what_the_device_would) {
  test::property([] {
    const model::capabilities caps = some_device();
    const command c = some_legal_command();
    const options o = fit({.signal = sync_signal::event}, test::asked(caps));
    const bool sync = opcode_of(c.word[0]) == opcode_sync;
    const bool never = caps.part.no_atc_inv && opcode_of(c.word[0]) == opcode_atc_inv;
    if (!sync) CMDQ_CHECK_EQ(permits(o.device, c).code == status::ok, model::accepted(c, caps) && !never);
    CMDQ_CHECK(model::accepted(make_sync(o.signal), caps));  // what the queue puts by itself
  });
}

CMDQ_TEST(prefer_cons_is_the_parts) {
  model::capabilities caps;
  CMDQ_CHECK(!fit({}, test::asked(caps)).device.prefer_cons);
  caps.part = find_quirk("hi16xx_msi")->flags;
  CMDQ_CHECK(fit({}, test::asked(caps)).device.prefer_cons);
}

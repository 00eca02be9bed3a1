// SPDX-License-Identifier: BSL-1.0
#include <cmdq/model/hostile.hpp>

#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::lie;
using liar = model::hostile_device<platform_t, device_t>;

CMDQ_TEST(honest_until_told_otherwise) {
  rig r(3, model::device_drive::in_write);
  liar d(r.device, lie::none, 1);
  r.put(bad());
  d.write_prod(1);
  CMDQ_CHECK_EQ(d.read_cons(), 1u << 24);
  CMDQ_CHECK_EQ(d.read_gerror(), 1u);
  r.entries[0].put(tlbi(1));
  d.write_gerrorn(1);
  CMDQ_CHECK_EQ(d.read_cons(), 1u << 24 | 1u);
  CMDQ_CHECK_EQ(d.read_gerrorn(), 1u);
}

CMDQ_TEST(gone_reads_as_ones) {
  rig r;
  liar d(r.device, lie::gone, 1);
  CMDQ_CHECK_EQ(d.read_cons(), device_gone);
  CMDQ_CHECK_EQ(d.read_gerror(), device_gone);
  CMDQ_CHECK_EQ(d.read_gerrorn(), device_gone);
}

CMDQ_TEST(every_lie_shows_and_repeats_from_its_seed) {
  for (const lie kind : {lie::cons_outside, lie::cons_back, lie::error_codes, lie::anything}) {
    rig r(3, model::device_drive::in_write);
    for (uint64_t i = 0; i < 5; ++i) r.give(tlbi(i));
    liar a(r.device, kind, 42);
    liar b(r.device, kind, 42);
    liar c(r.device, kind, 43);
    unsigned lies = 0;
    unsigned differ = 0;
    for (int i = 0; i < 200; ++i) {
      const uint32_t v = a.read_cons();
      CMDQ_CHECK_EQ(v, b.read_cons());
      differ += v != c.read_cons() ? 1 : 0;
      lies += v != r.device.read_cons() ? 1 : 0;
      if (kind == lie::cons_back) CMDQ_CHECK(5 - cons_position(v) < 4);
      if (kind == lie::error_codes) CMDQ_CHECK_EQ(cons_position(v), 5u);
    }
    CMDQ_CHECK(lies > 50);
    CMDQ_CHECK(differ > 0);
  }
}

CMDQ_TEST(user_decides) {
  rig r(3, model::device_drive::in_write);
  r.give(tlbi(1));
  unsigned calls = 0;
  liar d(
      r.device,
      [](void* context, model::lied_register which, uint32_t honest) {
        ++*static_cast<unsigned*>(context);
        return which == model::lied_register::cons ? honest + 100 : honest;
      },
      &calls);
  CMDQ_CHECK_EQ(d.read_cons(), 101u);
  CMDQ_CHECK_EQ(d.read_gerror(), 0u);
  CMDQ_CHECK_EQ(calls, 2u);
}

struct wild_msi : model::null_hooks {
  uint64_t value = 0;
  uint64_t msi_value(uint64_t) noexcept { return value; }
};

CMDQ_TEST(msi_word_of_any_value) {
  property([](uint32_t value) {
    std::vector<entry_t> entries(4);
    wild_msi h;
    h.value = value;
    model::hardware<platform_t, entry_t, wild_msi> d(model::device_drive::in_write, {}, h);
    CMDQ_CHECK_EQ(d.attach(entries.data(), 2, ring_base), status::ok);
    entries[0].put(make_msi_sync(ring_base, 0));
    d.write_prod(1);
    CMDQ_CHECK_EQ(entries[0].get().word[0], value);
  });
}

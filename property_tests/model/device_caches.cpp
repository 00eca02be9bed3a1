// SPDX-License-Identifier: BSL-1.0
#include <cmdq/model/device_caches.hpp>

#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::atc_entry;
using model::configuration_entry;
using kind = model::configuration_entry::kind;

namespace {
bool drops(const command& c, const configuration_entry& e) {
  model::device_caches<4> caches;
  caches.configuration.fill(e);
  return caches.apply(c) == 1;
}
bool drops(const command& c, const atc_entry& e) {
  model::device_caches<4> caches;
  caches.atc.fill(e);
  return caches.apply(c) == 1;
}
}  // namespace

CMDQ_TEST(cfgi_table) {
  const kind kinds[] = {kind::stream_table, kind::stream, kind::context_table, kind::context};
  const struct {
    command c;
    bool drops_kind[4];  ///< for stream 5, SSID 3
  } rows[] = {
      {made(smmuv3::cfgi_ste{.sid = 5, .leaf = false}), {true, true, true, true}},
      {made(smmuv3::cfgi_ste{.sid = 5, .leaf = true}), {false, true, true, true}},
      {made(smmuv3::cfgi_ste{.sid = 4}), {false, false, false, false}},
      {made(smmuv3::cfgi_cd{.ssid = 3, .sid = 5, .leaf = false}), {false, false, true, true}},
      {made(smmuv3::cfgi_cd{.ssid = 3, .sid = 5, .leaf = true}), {false, false, false, true}},
      {made(smmuv3::cfgi_cd{.ssid = 2, .sid = 5, .leaf = true}), {false, false, false, false}},
      {made(smmuv3::cfgi_cd{.ssid = 3, .sid = 4}), {false, false, false, false}},
      {made(smmuv3::cfgi_cd_all{.sid = 5}), {false, false, true, true}},
      {made(smmuv3::cfgi_cd_all{.sid = 4}), {false, false, false, false}},
      {made(smmuv3::cfgi_all), {true, true, true, true}},
      {tlbi(5), {false, false, false, false}},
  };
  for (const auto& row : rows)
    for (int k = 0; k < 4; ++k)
      CMDQ_CHECK_EQ(drops(row.c, configuration_entry{.what = kinds[k], .sid = 5, .ssid = 3}), row.drops_kind[k]);
}

CMDQ_TEST(cfgi_ste_range_covers_its_streams) {
  property([] {
    const auto range = *rc::gen::inRange(0u, 32u);
    const auto sid = *rc::gen::arbitrary<uint32_t>();
    const auto flip = *rc::gen::inRange(0u, 32u);
    const command c = made(smmuv3::cfgi_ste_range{.sid = sid, .range = range});
    CMDQ_CHECK(drops(c, configuration_entry{.sid = sid}));
    // Another stream id that differs in bit `flip` first is covered when that bit is among the RANGE + 1 low ones.
    CMDQ_CHECK_EQ(drops(c, configuration_entry{.sid = sid ^ (1u << flip)}), flip <= range);
  });
}

CMDQ_TEST(atc_inv_equals_brute_force) {
  property([] {
    const atc_entry e{.sid = *rc::gen::inRange(0u, 2u),
                      .has_ssid = *rc::gen::arbitrary<bool>(),
                      .ssid = *rc::gen::inRange(0u, 2u),
                      .address = *rc::gen::inRange<uint64_t>(0, 64) << 12,
                      .log2_pages = 0};
    const smmuv3::atc_inv c{.global = *rc::gen::arbitrary<bool>(),
                            .ssv = *rc::gen::arbitrary<bool>(),
                            .ssid = *rc::gen::inRange(0u, 2u),
                            .sid = *rc::gen::inRange(0u, 2u),
                            .size = *rc::gen::element(0u, 1u, 2u, 3u, 5u, 52u),
                            .addr = *rc::gen::inRange<uint64_t>(0, 64) << 12};
    bool address = c.size == 52;
    if (!address) {
      uint64_t first = c.addr >> 12;
      while (first % (1ULL << c.size) != 0) --first;
      for (uint64_t p = first; p < first + (1ULL << c.size); ++p) address = address || p == e.address >> 12;
    }
    const bool context = e.has_ssid ? c.global || (c.ssv && c.ssid == e.ssid) : !c.ssv;
    CMDQ_CHECK_EQ(drops(made(c), e), e.sid == c.sid && context && address);
  });
}

CMDQ_TEST(atc_entry_larger_than_the_invalidation) {
  const atc_entry large{.sid = 1, .address = 0x200000, .log2_pages = 9};
  CMDQ_CHECK(drops(made(smmuv3::atc_inv{.sid = 1, .addr = 0x3ff000}), large));
  CMDQ_CHECK(!drops(made(smmuv3::atc_inv{.sid = 1, .addr = 0x400000}), large));
}

CMDQ_TEST(caches_behind_a_device) {
  struct cached : model::null_hooks {
    model::device_caches<8>* caches = nullptr;
    void effect(const command& c) noexcept { caches->apply(c); }
  };
  model::device_caches<8> caches;
  caches.tlb.fill({.vmid = 1, .asid = 2, .address = 0x7000});
  cached hooks;
  hooks.caches = &caches;
  std::vector<entry_t> entries(4);
  model::hardware<platform_t, entry_t, cached> d(model::device_drive::in_write, {}, hooks);
  CMDQ_CHECK_EQ(d.attach(entries.data(), 2, ring_base), status::ok);
  entries[0].put(tlbi(6));
  d.write_prod(1);
  CMDQ_CHECK_EQ(caches.tlb.size(), 1u);
  entries[1].put(tlbi(7));
  d.write_prod(2);
  CMDQ_CHECK_EQ(caches.tlb.size(), 0u);
}

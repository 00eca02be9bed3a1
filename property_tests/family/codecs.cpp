// SPDX-License-Identifier: BSL-1.0
// Encode and decode of the families that describe their commands by tables, against words of recorded streams and of
// the documents.
#include <cmdq/amdvi/commands.hpp>
#include <cmdq/riscv/commands.hpp>
#include <cmdq/vtd/commands.hpp>

#include "support/test.hpp"

namespace cmdq::test {
namespace {

/// Each command of a table: any values that fit come back, and any bit outside of its fields is refused.
template <std::size_t N>
void round_trips(const command_layout (&table)[N]) {
  property([&table] {
    described d{.layout = &table[*rc::gen::inRange<std::size_t>(0, N)]};
    for (std::size_t i = 0; i < d.layout->count(); ++i) {
      const field_layout& f = d.layout->fields[i];
      d.values[i] = (*rc::gen::arbitrary<std::uint64_t>() & f.ones()) << f.shift;
    }
    const auto c = encode_described<2>(d);
    CMDQ_CHECK(c.ok());
    const auto back = decode_described<2>(table, *c);
    CMDQ_CHECK(back.ok() && back->layout == d.layout);
    for (std::size_t i = 0; i < d.layout->count(); ++i) CMDQ_CHECK_EQ(back->values[i], d.values[i]);
    for (unsigned w = 0; w < 2; ++w)
      for (unsigned b = 0; b < 64; ++b) {
        const std::uint64_t bit = std::uint64_t{1} << b;
        if ((d.layout->reserved(w) & bit) == 0) continue;
        command bad = *c;
        bad.word[w] |= bit;
        CMDQ_CHECK_EQ(decode_described<2>(table, bad).code(), status::invalid_argument);
      }
  });
}

CMDQ_TEST(vtd_commands_round_trip) { round_trips(vtd::layouts); }
CMDQ_TEST(amdvi_commands_round_trip) { round_trips(amdvi::layouts); }
CMDQ_TEST(riscv_commands_round_trip) { round_trips(riscv::layouts); }

CMDQ_TEST(fields_that_do_not_fit_are_refused) {
  described d{.layout = &vtd::layouts[1]};
  d.values[d.layout->find("did")] = 0x10000;
  CMDQ_CHECK_EQ(encode_described<2>(d).code(), status::out_of_range);
  CMDQ_CHECK_EQ(encode_described<2>(d).why().limit, 0xffffU);
  d.values[d.layout->find("did")] = 0;
  d.values[d.layout->find("addr")] = 0x1800;
  CMDQ_CHECK_EQ(encode_described<2>(d).code(), status::misaligned);
}

// Words that Linux 6.1 gave to an emulated unit.
CMDQ_TEST(vtd_recorded_words) {
  const auto wait = vtd::decode({{0x0000000200000025, 0x00000000018fa404}});
  CMDQ_CHECK(wait.ok() && std::string(wait->layout->name) == "wait");
  CMDQ_CHECK_EQ(wait->get("sw"), 1U);
  CMDQ_CHECK_EQ(wait->get("if"), 0U);
  CMDQ_CHECK_EQ(wait->get("data"), 2U);
  CMDQ_CHECK_EQ(wait->get("addr"), 0x18fa404U);
  CMDQ_CHECK(vtd::make_wait(0x18fa404, 2) == command({{0x0000000200000025, 0x00000000018fa404}}));
  CMDQ_CHECK(*vtd::encode(vtd::iotlb_global{}) == command({{0xd2, 0}}));
  CMDQ_CHECK(vtd::legal({{0x11, 0}}));  // context cache, all of it
}

CMDQ_TEST(vtd_ranges_are_covered) {
  const auto one = vtd::decode(vtd::cover(5, 0x12345678, 1, 18, false));
  CMDQ_CHECK(one->get("g") == 3 && one->get("am") == 0 && one->get("addr") == 0x12345000);
  const auto two = vtd::decode(vtd::cover(5, 0x7fff, 2, 18, true));
  CMDQ_CHECK(two->get("am") == 4 && two->get("addr") == 0 && two->get("ih") == 1);
  CMDQ_CHECK_EQ(vtd::decode(vtd::cover(5, 0, std::uint64_t{1} << 40, 18, false))->get("g"),
                2U);  // too much: the domain
  CMDQ_CHECK_EQ(vtd::decode(vtd::cover(5, ~0ULL, 2, 18, false))->get("g"), 2U);
  CMDQ_CHECK_EQ(vtd::decode(vtd::cover(5, 0, 0, 18, false))->get("g"), 2U);
}

CMDQ_TEST(amdvi_golden_words) {
  CMDQ_CHECK(amdvi::make_wait(0x1234568, 7) == command({{0x1000000001234569, 7}}));
  CMDQ_CHECK(*amdvi::encode(amdvi::invalidate_iommu_pages{.domid = 5, .addr = 0x2000, .pde = true}) ==
             command({{0x3000000500000000, 0x2002}}));
  CMDQ_CHECK(*amdvi::encode(amdvi::invalidate_devtab_entry{.devid = 0x46}) == command({{0x2000000000000046, 0}}));
  const auto two = amdvi::decode(amdvi::cover(5, 0x2000, 0x2000));
  CMDQ_CHECK(two->get("s") == 1 && two->get("addr") == 0x2000);  // bit 12 is the lowest zero: 8 KiB
  const auto four = amdvi::decode(amdvi::cover(5, 0x4000, 0x4000));
  CMDQ_CHECK(four->get("s") == 1 && four->get("addr") == 0x5000);
}

CMDQ_TEST(riscv_golden_words) {
  CMDQ_CHECK(riscv::make_fence_to(0x1234, 9) == command({{0x0000000900003402, 0x48d}}));
  CMDQ_CHECK(*riscv::encode(riscv::iotinval_vma{.page = true, .addr = 0x3000, .pscv = true, .pscid = 7}) ==
             command({{0x0000000100007401, 0xc00}}));
  CMDQ_CHECK(!riscv::legal({{riscv::kinds::iotinval_gvma | 1ULL << 32, 0}}));  // PSCV in a guest's invalidation
  CMDQ_CHECK(!riscv::legal({{riscv::kinds::iodir_pdt, 0}}));                   // no device
  CMDQ_CHECK_EQ(riscv::pages_or_all(0xfff, 2, 16), 2U);
  CMDQ_CHECK_EQ(riscv::pages_or_all(0, 1ULL << 30, 16), 1U);
}

}  // namespace
}  // namespace cmdq::test

// SPDX-License-Identifier: BSL-1.0
// Offsets and fields against masks typed by hand from the register table of the SMMUv3 specification.
#include <cmdq/smmuv3/registers.hpp>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::smmuv3::registers;

CMDQ_TEST(register_offsets) {
  CMDQ_CHECK(offset::idr0 == 0 && offset::idr1 == 4 && offset::idr3 == 0xc && offset::idr5 == 0x14);
  CMDQ_CHECK(offset::iidr == 0x18 && offset::cr0 == 0x20 && offset::cr0ack == 0x24 && offset::cr1 == 0x28);
  CMDQ_CHECK(offset::cr2 == 0x2c && offset::gerror == 0x60 && offset::gerrorn == 0x64);
  CMDQ_CHECK(offset::cmdq_base == 0x90 && offset::cmdq_prod == 0x98 && offset::cmdq_cons == 0x9c);
  CMDQ_CHECK(offset::evtq_base == 0xa0 && offset::evtq_prod == 0x100a8 && offset::evtq_cons == 0x100ac);
}

CMDQ_TEST(register_masks) {
  const struct {
    bits32 field;
    uint32_t mask;
  } known[] = {
      {idr0::s2p, 1U << 0},
      {idr0::s1p, 1U << 1},
      {idr0::ttf, 3U << 2},
      {idr0::cohacc, 1U << 4},
      {idr0::httu, 3U << 6},
      {idr0::hyp, 1U << 9},
      {idr0::ats, 1U << 10},
      {idr0::asid16, 1U << 12},
      {idr0::msi, 1U << 13},
      {idr0::sev, 1U << 14},
      {idr0::pri, 1U << 16},
      {idr0::vmid16, 1U << 18},
      {idr0::cd2l, 1U << 19},
      {idr0::ttendian, 3U << 21},
      {idr0::stall_model, 3U << 24},
      {idr0::st_lvl, 3U << 27},
      {idr1::sidsize, 0x3f},
      {idr1::ssidsize, 0x7c0},
      {idr1::priqs, 0xf800},
      {idr1::evtqs, 0x1f0000},
      {idr1::cmdqs, 0x3e00000},
      {idr1::rel, 1U << 28},
      {idr1::queues_preset, 1U << 29},
      {idr1::tables_preset, 1U << 30},
      {idr1::attr_types_ovr, 1U << 27},
      {idr3::ril, 1U << 10},
      {idr5::oas, 7},
      {idr5::gran4k, 1U << 4},
      {idr5::gran16k, 1U << 5},
      {idr5::gran64k, 1U << 6},
      {idr5::vax, 0xc00},
      {idr5::stall_max, 0xffff0000},
      {iidr::implementer, 0xfff},
      {iidr::revision, 0xf000},
      {iidr::variant, 0xf0000},
      {iidr::product, 0xfff00000},
      {cr0::smmuen, 1},
      {cr0::priqen, 2},
      {cr0::evtqen, 4},
      {cr0::cmdqen, 8},
      {cr0::atschk, 16},
      {cr0::vmw, 0x1c0},
      {cr0::dpt_walk_en, 0x400},
      {cr1::queue_ic, 3},
      {cr1::queue_oc, 0xc},
      {cr1::queue_sh, 0x30},
      {cr1::table_ic, 0xc0},
      {cr1::table_oc, 0x300},
      {cr1::table_sh, 0xc00},
      {cr2::e2h, 1},
      {cr2::recinvsid, 2},
      {cr2::ptm, 4},
      {cmdq_cons::err, 0x7f000000},
      {evtq::overflow, 0x80000000},
  };
  for (const auto& k : known) CMDQ_CHECK_EQ(k.field.mask(), k.mask);
  CMDQ_CHECK_EQ(cr0::mask, cr0::smmuen.mask() | cr0::priqen.mask() | cr0::evtqen.mask() | cr0::cmdqen.mask() |
                               cr0::atschk.mask() | cr0::vmw.mask() | cr0::dpt_walk_en.mask());
  CMDQ_CHECK_EQ(cmdq_base::log2size.mask(), uint64_t{0x1f});
  CMDQ_CHECK_EQ(cmdq_base::addr.mask(), uint64_t{0x000fffffffffffe0});
  CMDQ_CHECK_EQ(cmdq_base::ra.mask(), uint64_t{1} << 62);
  CMDQ_CHECK_EQ(cmdq_base::mask, cmdq_base::log2size.mask() | cmdq_base::addr.mask() | cmdq_base::ra.mask());
}

CMDQ_TEST(register_fields_set_and_get) {
  test::property([](uint32_t reg, uint32_t value) {
    const auto lsb = *rc::gen::inRange(0U, 32U);
    const auto msb = *rc::gen::inRange(lsb, 32U);
    const bits32 f{msb, lsb};
    const uint64_t width = uint64_t{1} << (msb - lsb + 1);
    CMDQ_CHECK_EQ(uint64_t{f.get(f.set(reg, value))}, value % width);
    CMDQ_CHECK_EQ(f.set(reg, value) & ~f.mask(), reg & ~f.mask());
    CMDQ_CHECK_EQ(f.set(reg, f.get(reg)), reg);
  });
}

/// The ring's base is aligned to the ring's size, at least 32 bytes, and no larger than IDR1.CMDQS.
CMDQ_TEST(register_cmdq_base) {
  for (uint32_t log2 = 0; log2 <= max_log2_size; ++log2) {
    const uint64_t size = log2 == 0 ? 32 : uint64_t{16} << log2;
    const auto good = make_cmdq_base(5 * size, log2, 31);
    CMDQ_CHECK(good.ok());
    CMDQ_CHECK_EQ(*good, (uint64_t{1} << 62) + 5 * size + log2);
    CMDQ_CHECK_EQ(shape_of(*good).log2, log2);
    const auto bad = make_cmdq_base(5 * size + size / 2, log2, 31);
    CMDQ_CHECK(bad.code() == status::misaligned && bad.why().limit == size);
    if (log2 > 0) CMDQ_CHECK(make_cmdq_base(0, log2, log2 - 1).why().limit == log2 - 1);
  }
  CMDQ_CHECK(make_cmdq_base(0, 20, 31).code() == status::out_of_range);
  CMDQ_CHECK(make_cmdq_base(uint64_t{1} << 52, 4, 31).code() == status::out_of_range);
  CMDQ_CHECK_EQ(*make_cmdq_base(0x1000, 8, 8, false), uint64_t{0x1008});
}

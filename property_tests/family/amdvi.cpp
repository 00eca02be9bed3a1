// SPDX-License-Identifier: BSL-1.0
#include <cmdq/model/amdvi/hardware.hpp>

#include "body.hpp"

namespace cmdq::test::family {
namespace {

struct amdvi_case {
  using family = amdvi::family;
  template <class Hooks>
  using hardware = model::amdvi::hardware<P, Hooks>;
  static constexpr unsigned nobody = ~0U;
  static command numbered(unsigned who, unsigned i) {
    return *amdvi::encode(
        amdvi::invalidate_iommu_pages{.domid = static_cast<std::uint16_t>(who + 1), .addr = std::uint64_t{i} << 12});
  }
  static std::pair<unsigned, unsigned> number_of(const command& c) {
    const auto domid = static_cast<unsigned>(c.word[0] >> 32) & 0xffffU;
    return {domid == 0 ? nobody : domid - 1, static_cast<unsigned>(c.word[1] >> 12)};
  }
  static command bad(unsigned i) { return {{0xfULL << 60, std::uint64_t{i} << 12}}; }
};

using word = completion::status_word;

CMDQ_TEST(amdvi_cmpxchg_loop_is_sound) { sound<amdvi_case, allocation::cmpxchg_loop, word>(); }
CMDQ_TEST(amdvi_owner_bits_is_sound) { sound<amdvi_case, allocation::owner_bits, word>(); }
CMDQ_TEST(amdvi_combining_is_sound) { sound<amdvi_case, allocation::combining, word>(); }
CMDQ_TEST(amdvi_delegated_is_sound) { sound<amdvi_case, allocation::delegated, word>(); }
CMDQ_TEST(amdvi_tells_its_caller) {
  tells_its_caller<amdvi_case, allocation::cmpxchg_loop, word>();
  tells_its_caller<amdvi_case, allocation::owner_bits, word>();
  tells_its_caller<amdvi_case, allocation::combining, word>();
  tells_its_caller<amdvi_case, allocation::delegated, word>();
}
CMDQ_TEST(amdvi_a_full_ring_is_not_taken_for_an_empty_one) {
  fills<amdvi_case, allocation::cmpxchg_loop, word>();
  fills<amdvi_case, allocation::owner_bits, word>();
  fills<amdvi_case, allocation::combining, word>();
  fills<amdvi_case, allocation::delegated, word>();
}
CMDQ_TEST(amdvi_laps) {
  laps<amdvi_case, allocation::cmpxchg_loop, word>(120);
  laps<amdvi_case, allocation::owner_bits, word>(120);
  laps<amdvi_case, allocation::combining, word>(120);
  laps<amdvi_case, allocation::delegated, word>(120);
}

// A device id of 0x46 or 0x40 in the first byte is no SMMUv3 opcode here.
CMDQ_TEST(amdvi_a_first_byte_is_no_foreign_opcode) {
  rig<amdvi_case, allocation::combining, word> r({.seed = 5});
  run_one(r, [](auto& me) {
    for (const std::uint16_t devid : {std::uint16_t{0x46}, std::uint16_t{0x40}}) {
      const command c = *amdvi::encode(amdvi::invalidate_devtab_entry{.devid = devid});
      CMDQ_CHECK_EQ(me.issue(&c, 1).code, status::ok);
    }
  });
  CMDQ_CHECK_EQ(r.executed.size(), 2U);
}

}  // namespace
}  // namespace cmdq::test::family

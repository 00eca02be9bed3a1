// SPDX-License-Identifier: BSL-1.0
#include <cmdq/model/riscv/hardware.hpp>

#include "body.hpp"

namespace cmdq::test::family {
namespace {

struct riscv_case {
  using family = riscv::family;
  template <class Hooks>
  using hardware = model::riscv::hardware<P, Hooks>;
  static constexpr unsigned nobody = ~0U;
  static command numbered(unsigned who, unsigned i) {
    return *riscv::encode(
        riscv::iotinval_vma{.page = true, .addr = std::uint64_t{i} << 12, .pscv = true, .pscid = who + 1});
  }
  static std::pair<unsigned, unsigned> number_of(const command& c) {
    const unsigned pscid = static_cast<unsigned>(c.word[0] >> 12) & 0xfffffU;
    return {pscid == 0 ? nobody : pscid - 1, static_cast<unsigned>(c.word[1] >> 10)};
  }
  static command bad(unsigned i) { return {{riscv::kinds::iodir_pdt, std::uint64_t{i} << 10}}; }  // no device
};

using word = completion::status_word;
using reg = completion::poll_cons;

CMDQ_TEST(riscv_cmpxchg_loop_by_register_is_sound) { sound<riscv_case, allocation::cmpxchg_loop, reg>(); }
CMDQ_TEST(riscv_owner_bits_by_register_is_sound) { sound<riscv_case, allocation::owner_bits, reg>(); }
CMDQ_TEST(riscv_combining_by_register_is_sound) { sound<riscv_case, allocation::combining, reg>(); }
CMDQ_TEST(riscv_delegated_by_register_is_sound) { sound<riscv_case, allocation::delegated, reg>(); }
CMDQ_TEST(riscv_cmpxchg_loop_by_word_is_sound) { sound<riscv_case, allocation::cmpxchg_loop, word>(); }
CMDQ_TEST(riscv_owner_bits_by_word_is_sound) { sound<riscv_case, allocation::owner_bits, word>(); }
CMDQ_TEST(riscv_combining_by_word_is_sound) { sound<riscv_case, allocation::combining, word>(); }
CMDQ_TEST(riscv_delegated_by_word_is_sound) { sound<riscv_case, allocation::delegated, word>(); }
CMDQ_TEST(riscv_by_register_tells_its_caller) {
  tells_its_caller<riscv_case, allocation::cmpxchg_loop, reg>();
  tells_its_caller<riscv_case, allocation::owner_bits, reg>();
  tells_its_caller<riscv_case, allocation::combining, reg>();
  tells_its_caller<riscv_case, allocation::delegated, reg>();
}
CMDQ_TEST(riscv_by_word_tells_its_caller) {
  tells_its_caller<riscv_case, allocation::cmpxchg_loop, word>();
  tells_its_caller<riscv_case, allocation::owner_bits, word>();
  tells_its_caller<riscv_case, allocation::combining, word>();
  tells_its_caller<riscv_case, allocation::delegated, word>();
}
CMDQ_TEST(riscv_a_full_ring_is_not_taken_for_an_empty_one) {
  fills<riscv_case, allocation::cmpxchg_loop, word>();
  fills<riscv_case, allocation::owner_bits, word>();
  fills<riscv_case, allocation::combining, word>();
  fills<riscv_case, allocation::delegated, word>();
}
CMDQ_TEST(riscv_laps) {
  laps<riscv_case, allocation::cmpxchg_loop, reg>(30);
  laps<riscv_case, allocation::combining, word>(30);
  laps<riscv_case, allocation::delegated, word>(30);
}

template <class Completion>
void dead_device() {
  rig<riscv_case, allocation::combining, Completion> r({.seed = 5});
  r.device.behaviour.dead_sid = 0x18;
  r.device.behaviour.dead_reports = 1;
  run_one(r, [](auto& me) {
    const command dead = *riscv::encode(riscv::ats_inval{.rid = 0x18});
    const command good = riscv_case::numbered(0, 0);
    CMDQ_CHECK_EQ(me.issue(&good, 1).code, status::ok);
    CMDQ_CHECK_EQ(me.issue(&dead, 1).code, status::atc_timeout);
    CMDQ_CHECK_EQ(me.issue(&dead, 1).code, status::ok);
    CMDQ_CHECK_EQ(me.issue(&good, 1).code, status::ok);
  });
}
CMDQ_TEST(a_device_that_does_not_answer_is_told_to_who_asked) {
  dead_device<reg>();
  dead_device<word>();
}

// A fetch that fails is tried again, at most options.fetch_retries times.
CMDQ_TEST(riscv_fetch_is_retried) {
  rig<riscv_case, allocation::combining, word> r({.first = 7, .seed = 5});
  r.device.behaviour.abort_fetch_at = 7;
  r.device.behaviour.aborts = 3;
  run_one(r, [](auto& me) {
    const command good = riscv_case::numbered(0, 0);
    CMDQ_CHECK_EQ(me.issue(&good, 1).code, status::ok);
  });
  CMDQ_CHECK_EQ(r.device.behaviour.aborts, 0U);
}

}  // namespace
}  // namespace cmdq::test::family

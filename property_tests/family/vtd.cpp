// SPDX-License-Identifier: BSL-1.0
#include <cmdq/model/vtd/hardware.hpp>

#include "body.hpp"

namespace cmdq::test::family {
namespace {

struct vtd_case {
  using family = vtd::family;
  template <class Hooks>
  using hardware = model::vtd::hardware<P, Hooks>;
  static constexpr unsigned nobody = ~0U;
  static command numbered(unsigned who, unsigned i) {
    return *vtd::encode(vtd::iotlb_pages{.did = static_cast<std::uint16_t>(who + 1), .addr = std::uint64_t{i} << 12});
  }
  static std::pair<unsigned, unsigned> number_of(const command& c) {
    const unsigned did = (c.word[0] >> 16) & 0xffffU;
    return {did == 0 ? nobody : did - 1, static_cast<unsigned>(c.word[1] >> 12)};
  }
  static command bad(unsigned i) { return {{vtd::type::iotlb, std::uint64_t{i} << 12}}; }  // granularity 0
};

using word = completion::status_word;

CMDQ_TEST(vtd_cmpxchg_loop_is_sound) { sound<vtd_case, allocation::cmpxchg_loop, word>(); }
CMDQ_TEST(vtd_owner_bits_is_sound) { sound<vtd_case, allocation::owner_bits, word>(); }
CMDQ_TEST(vtd_combining_is_sound) { sound<vtd_case, allocation::combining, word>(); }
CMDQ_TEST(vtd_delegated_is_sound) { sound<vtd_case, allocation::delegated, word>(); }
CMDQ_TEST(vtd_cmpxchg_loop_tells_its_caller) { tells_its_caller<vtd_case, allocation::cmpxchg_loop, word>(); }
CMDQ_TEST(vtd_owner_bits_tells_its_caller) { tells_its_caller<vtd_case, allocation::owner_bits, word>(); }
CMDQ_TEST(vtd_combining_tells_its_caller) { tells_its_caller<vtd_case, allocation::combining, word>(); }
CMDQ_TEST(vtd_delegated_tells_its_caller) { tells_its_caller<vtd_case, allocation::delegated, word>(); }
CMDQ_TEST(vtd_a_full_ring_is_not_taken_for_an_empty_one) {
  fills<vtd_case, allocation::cmpxchg_loop, word>();
  fills<vtd_case, allocation::owner_bits, word>();
  fills<vtd_case, allocation::combining, word>();
  fills<vtd_case, allocation::delegated, word>();
}
CMDQ_TEST(vtd_laps) {
  laps<vtd_case, allocation::cmpxchg_loop, word>(120);
  laps<vtd_case, allocation::owner_bits, word>(120);
  laps<vtd_case, allocation::combining, word>(120);
  laps<vtd_case, allocation::delegated, word>(120);
}

/// A queue that takes a word for free while its write is still to come.
struct forgets_pending : completion::status_word {
  template <class Ring>
  static bool pending(Ring&, position) noexcept {
    return false;
  }
};

/// Lists that nobody waits for, so that entries are used again while waits are still to be answered.
template <class Completion>
std::uint32_t stray_writes_with() {
  rig<vtd_case, allocation::cmpxchg_loop, Completion> r({.first = 0U - 100, .seed = 1});
  r.device.behaviour.fetch_ahead = 16;
  r.device.behaviour.late_steps = 2000;
  run_one(r, [](auto& me) {
    for (unsigned i = 0; i < 600; ++i) {
      const command c = vtd_case::numbered(0, i);
      CMDQ_CHECK(me.submit(&c, 1).ok());
    }
    CMDQ_CHECK_EQ(me.issue(nullptr, 0).code, status::ok);
  });
  return r.device.stray_writes();
}

// VT-d's head moves when a descriptor is fetched: an entry that it has passed may still be written to.
CMDQ_TEST(an_entry_is_not_used_again_under_a_pending_status_write) {
  CMDQ_CHECK_EQ(stray_writes_with<word>(), 0U);
  CMDQ_CHECK(stray_writes_with<forgets_pending>() > 0);
}

/// VT-d, but for what takes a refused command's place: another family's sync command.
struct foreign : vtd::family {
  template <class P_>
  struct errors {
    vtd::error_protocol<P_> own;
    template <class Host>
    error_report handle(Host& host) noexcept {
      position p = 0;
      std::uint32_t reg = 0;
      const bool bad = (host.device().read_fsts() & vtd::fsts::iqe) != 0;
      if (bad) static_cast<void>(host.position_of_error(p, reg));
      const error_report report = own.handle(host);
      if (bad && report.handled) host.put(p, {{0x46, 0}});
      return report;
    }
    template <class Device>
    static std::uint32_t pending(Device& d) noexcept {
      return d.read_fsts();
    }
  };
};
struct foreign_case : vtd_case {
  using family = foreign;
};

template <class Of>
std::pair<status, status> codes_of_bad_then_good() {
  rig<Of, allocation::combining, word> r({.seed = 1});
  std::pair<status, status> codes;
  run_one(r, [&](auto& me) {
    const command bad = vtd_case::bad(0);
    const command good = vtd_case::numbered(0, 0);
    codes.first = me.issue(&bad, 1).code;
    codes.second = me.issue(&good, 1).code;
  });
  return codes;
}

CMDQ_TEST(what_replaces_a_refused_command_is_accepted) {
  CMDQ_CHECK(codes_of_bad_then_good<vtd_case>() == std::pair(status::illegal_command, status::ok));
  const auto wrong = codes_of_bad_then_good<foreign_case>();
  CMDQ_CHECK(wrong.first != status::ok && wrong.second == status::device_fault);
}

// A time-out of a device's TLB aborts the waits that were fetched: whoever they answer for is told, nobody else, and
// what comes afterwards works.
CMDQ_TEST(a_device_tlb_that_does_not_answer_is_told_and_over) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    rig<vtd_case, allocation::combining, word> r({.seed = seed});
    r.device.behaviour.dead_sid = 0x18;
    r.device.behaviour.dead_reports = 1;
    run_one(r, [](auto& me) {
      const command dead = *vtd::encode(vtd::device_tlb{.sid = 0x18});
      const command good = vtd_case::numbered(0, 0);
      CMDQ_CHECK_EQ(me.issue(&good, 1).code, status::ok);
      const std::uint64_t began = P::now_ns();
      CMDQ_CHECK_EQ(me.issue(&dead, 1).code, status::atc_timeout);
      CMDQ_CHECK(P::now_ns() - began < decltype(r)::deadline / 4);  // not by waiting for what will not come
      for (unsigned i = 1; i < 300; ++i) {
        const command more = vtd_case::numbered(0, i);
        CMDQ_CHECK_EQ(me.issue(&more, 1).code, status::ok);
      }
      CMDQ_CHECK_EQ(me.issue(&dead, 1).code, status::ok);
    });
    CMDQ_CHECK_EQ(r.device.stray_writes(), 0U);
  }
}

}  // namespace
}  // namespace cmdq::test::family

// SPDX-License-Identifier: BSL-1.0
// The few encodings that the queue itself knows, and the text of status codes.
#include <cmdq/core/status.hpp>
#include <cmdq/smmuv3/error_bits.hpp>
#include <cmdq/smmuv3/wire.hpp>
#include <set>

#include "support/test.hpp"

using namespace cmdq;

CMDQ_TEST(command_syncs_have_golden_words) {
  CMDQ_CHECK(make_sync(sync_signal::none) == command{{0x46, 0}});
  CMDQ_CHECK(make_sync(sync_signal::event) == command{{0x2046, 0}});
  CMDQ_CHECK(make_msi_sync(0, 0) == command{{0x0fc01046, 0}});
  CMDQ_CHECK(make_msi_sync(0x123456789abcc, 0xdeadbeef) == command{{0xdeadbeef0fc01046, 0x123456789abcc}});
  CMDQ_CHECK(make_msi_sync(~0ULL, 0).word[1] == 0x000ffffffffffffc);
}

CMDQ_TEST(command_classes) {
  const struct {
    uint8_t first, last;
    command_class is;
  } known[] = {{0x01, 0x06, command_class::configuration}, {0x10, 0x13, command_class::tlb},
               {0x18, 0x18, command_class::tlb},           {0x20, 0x22, command_class::tlb},
               {0x2a, 0x2a, command_class::tlb},           {0x30, 0x30, command_class::tlb},
               {0x40, 0x40, command_class::atc},           {0x41, 0x41, command_class::page_request},
               {0x44, 0x45, command_class::page_request},  {0x46, 0x46, command_class::sync},
               {0x00, 0x00, command_class::unknown},       {0x47, 0xff, command_class::unknown}};
  for (const auto& k : known) {
    for (unsigned op = k.first; op <= k.last; ++op) CMDQ_CHECK_EQ(class_of(op | 0xffffff00U), k.is);
  }
}

CMDQ_TEST(status_names_are_distinct) {
  std::set<std::string> names;
  for (unsigned i = 0; i <= static_cast<unsigned>(status::too_many_producers); ++i) {
    names.insert(name(static_cast<status>(i)));
  }
  CMDQ_CHECK_EQ(names.size(), static_cast<size_t>(status::too_many_producers) + 1);
  CMDQ_CHECK_EQ(names.count("unknown"), size_t{0});
  CMDQ_CHECK_EQ(std::string(name(static_cast<status>(250))), std::string("unknown"));
}

CMDQ_TEST(result_holds_a_value_or_a_reason) {
  const result<int> good = 7;
  CMDQ_CHECK(good.ok() && *good == 7 && good.code() == status::ok);
  const result<int> bad = refusal{status::out_of_range, "field", 9, 8};
  CMDQ_CHECK(!bad && bad.code() == status::out_of_range && bad.why().value == 9 && bad.why().limit == 8);
}

CMDQ_TEST(gerror_mask_is_the_sum_of_its_bits) {
  CMDQ_CHECK_EQ(gerror::mask, gerror::cmdq_err | gerror::evtq_abt | gerror::priq_abt | gerror::msi_cmdq_abt |
                                  gerror::msi_evtq_abt | gerror::msi_priq_abt | gerror::msi_gerror_abt | gerror::sfm);
}

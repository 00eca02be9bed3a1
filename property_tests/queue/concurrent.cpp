// SPDX-License-Identifier: BSL-1.0
// Generated programs of several producers, of the device, and their interleaving.
#include "generators.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

void property_of(strategy which, harm expected, bool crowded = false) {
  property([=] {
    const crew_case c = *concurrent_case(which, expected, crowded);
    RC_LOG() << shown(c) << '\n';
    run_crew(c);
  });
}

}  // namespace

// Every call succeeds or reports its own commands' errors; nothing is lost, doubled, torn, reordered or interleaved.
CMDQ_TEST(concurrent_cmpxchg_loop) { property_of(strategy::cmpxchg_loop, harm::none); }
CMDQ_TEST(concurrent_owner_bits) { property_of(strategy::owner_bits, harm::none); }
CMDQ_TEST(concurrent_combining) { property_of(strategy::combining, harm::none); }
CMDQ_TEST(concurrent_groups) { property_of(strategy::combining, harm::none, true); }
CMDQ_TEST(concurrent_delegated) { property_of(strategy::delegated, harm::none); }
CMDQ_TEST(concurrent_delegated_crowd) { property_of(strategy::delegated, harm::none, true); }

// The device stands still beyond deadlines, fails to fetch, stops for good: every call ends, nothing false is reported.
CMDQ_TEST(broken_device_cmpxchg_loop) { property_of(strategy::cmpxchg_loop, harm::breaks); }
CMDQ_TEST(broken_device_owner_bits) { property_of(strategy::owner_bits, harm::breaks); }
CMDQ_TEST(broken_device_combining) { property_of(strategy::combining, harm::breaks); }
CMDQ_TEST(broken_device_groups) { property_of(strategy::combining, harm::breaks, true); }
CMDQ_TEST(broken_device_delegated) { property_of(strategy::delegated, harm::breaks); }
CMDQ_TEST(broken_device_delegated_crowd) { property_of(strategy::delegated, harm::breaks, true); }

// Registers lie: every call ends, PROD stays in its bounds, nothing is touched that is out of range.
CMDQ_TEST(hostile_device_cmpxchg_loop) { property_of(strategy::cmpxchg_loop, harm::lies); }
CMDQ_TEST(hostile_device_owner_bits) { property_of(strategy::owner_bits, harm::lies); }
CMDQ_TEST(hostile_device_combining) { property_of(strategy::combining, harm::lies); }
CMDQ_TEST(hostile_device_groups) { property_of(strategy::combining, harm::lies, true); }
CMDQ_TEST(hostile_device_delegated) { property_of(strategy::delegated, harm::lies); }
CMDQ_TEST(hostile_device_delegated_crowd) { property_of(strategy::delegated, harm::lies, true); }

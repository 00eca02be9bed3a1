// SPDX-License-Identifier: BSL-1.0
// Generators of set-ups, command lists and concurrent cases. Everything shrinks towards small rings, few short lists, a
// quick and honest device, and an interleaving without preemption.
#pragma once

#include <rapidcheck.h>

#include "crew.hpp"

namespace cmdq::test {

/// Positions at which something wraps, for a ring of 2^log2 entries, and others.
rc::Gen<position> first_positions(unsigned log2);

/// Groups of CPUs that gather on their own, up to four, in half of the cases.
void draw_groups(setup& s);

/// A set-up for `threads` producers; often one whose producers can fill the ring exactly.
rc::Gen<setup> setups(strategy which, unsigned threads);

/// A list for one call; `most` commands at most, of kinds that may fail where `errors`.
rc::Gen<std::vector<kind>> lists(std::uint32_t most, bool errors);

/// A list that is never cut: one class, within the batch limit.
rc::Gen<std::vector<kind>> whole_lists(const setup& s, bool errors);

/// Up to about 400 choices: the programs of a case have some hundred scheduling points to a thread.
rc::Gen<choices> interleavings();

/// `crowded`: three or four producers, two or three of them in one group of CPUs.
rc::Gen<crew_case> concurrent_case(strategy which, harm expected, bool crowded = false);

}  // namespace cmdq::test

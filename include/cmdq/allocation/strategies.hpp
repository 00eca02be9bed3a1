// SPDX-License-Identifier: BSL-1.0
// The shipped strategies, in one list. Whoever offers them by name goes over it, so that one that is left out somewhere
// does not compile or does not link; the build reads it, too.
#pragma once

#include <cmdq/allocation/cmpxchg_loop.hpp>
#include <cmdq/allocation/combining.hpp>
#include <cmdq/allocation/owner_bits.hpp>

/// X(name, locked): allocation::name; `locked` is true where reclaim::sync_locked can be chosen with it. One line each.
// clang-format off
#define CMDQ_FOR_EACH_STRATEGY(X) \
  X(cmpxchg_loop, true)           \
  X(owner_bits, true)             \
  X(combining, false)
// clang-format on

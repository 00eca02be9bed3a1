// SPDX-License-Identifier: BSL-1.0
// The shipped strategies, in one list. Whoever offers them by name goes over it, so that one that is left out somewhere
// does not compile or does not link; the build reads it, too.
#pragma once

#include <cmdq/allocation/cmpxchg_loop.hpp>
#include <cmdq/allocation/combining.hpp>
#include <cmdq/allocation/delegated.hpp>
#include <cmdq/allocation/owner_bits.hpp>

/// X(name, locked): allocation::name; `locked` is true where reclaim::sync_locked can be chosen with it. One line each.
// One more that is not the library's, to be tried in all programs: cmake -DCMDQ_OWN_STRATEGY=file (see
// CONTRIBUTING.md).
#if defined(CMDQ_OWN_STRATEGY)
#include CMDQ_OWN_STRATEGY_HEADER
#define CMDQ_LIST_WITH(X, name, locked) X(name, locked)
#define CMDQ_OWN_LINE(X) CMDQ_LIST_WITH(X, CMDQ_OWN_STRATEGY, false)
#else
#define CMDQ_OWN_LINE(X)
#endif

// clang-format off
#define CMDQ_FOR_EACH_STRATEGY(X) \
  X(cmpxchg_loop, true)           \
  X(owner_bits, true)             \
  X(combining, false)             \
  X(delegated, false)             \
  CMDQ_OWN_LINE(X)
// clang-format on

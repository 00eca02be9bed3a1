// SPDX-License-Identifier: BSL-1.0
// THE list of shipped configurations, as types. A new strategy is one row more here; everything that runs, names or
// compares strategies walks this list, and the test `manycore.every_allocation_has_a_row` finds a policy without one.
#pragma once

#include <cmdq/queue/config.hpp>
#include <cmdq/reclaim/sync_locked.hpp>

#include "platform.hpp"
#include "strategies.hpp"

namespace cmdq::manycore {

namespace rows {

template <class Allocation>
struct published {
  using allocation = Allocation;
  using reclaim = cmdq::reclaim::sync_locked;
  static constexpr role kind = role::published;
};
template <class Allocation, role Kind>
struct shipped {
  using allocation = Allocation;
  using reclaim = freestanding_config::reclaim;
  static constexpr role kind = Kind;
};

struct cmpxchg_loop_published : published<allocation::cmpxchg_loop> {
  static constexpr const char* name = "cmpxchg_loop/published";
};
struct owner_bits_published : published<allocation::owner_bits> {
  static constexpr const char* name = "owner_bits/published";
};
struct combining : shipped<allocation::combining, role::own> {
  static constexpr const char* name = "combining";
};
struct cmpxchg_loop : shipped<allocation::cmpxchg_loop, role::variant> {
  static constexpr const char* name = "cmpxchg_loop";
};
struct owner_bits : shipped<allocation::owner_bits, role::variant> {
  static constexpr const char* name = "owner_bits";
};

}  // namespace rows

/// Calls `f` with a value of each row's type.
template <class F>
void each_configuration(F f) {
  f(rows::cmpxchg_loop_published{});
  f(rows::owner_bits_published{});
  f(rows::combining{});
  f(rows::cmpxchg_loop{});
  f(rows::owner_bits{});
}

template <class Row, class Completion>
struct simulated_config : freestanding_config {
  using platform = manycore::platform;
  using allocation = typename Row::allocation;
  using completion = Completion;
  using reclaim = typename Row::reclaim;
};

}  // namespace cmdq::manycore

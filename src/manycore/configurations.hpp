// SPDX-License-Identifier: BSL-1.0
// The shipped configurations as types, from the library's one list of strategies: a new one is run, named and compared
// everywhere without a line here.
#pragma once

#include <cmdq/allocation/strategies.hpp>
#include <cmdq/queue/config.hpp>
#include <cmdq/reclaim/sync_locked.hpp>

#include "platform.hpp"
#include "strategies.hpp"

namespace cmdq::manycore {

namespace rows {
// clang-format off
#define CMDQ_ROWS(policy, locked)                                         \
  struct policy {                                                         \
    using allocation = cmdq::allocation::policy;                          \
    using reclaim = freestanding_config::reclaim;                         \
    static constexpr role kind = (locked) ? role::variant : role::own;    \
    static constexpr const char* name = #policy;                          \
  };                                                                      \
  struct policy##_published {                                             \
    using allocation = cmdq::allocation::policy;                          \
    using reclaim = cmdq::reclaim::sync_locked;                           \
    static constexpr role kind = role::published;                         \
    static constexpr const char* name = #policy "/published";             \
  };
// clang-format on
CMDQ_FOR_EACH_STRATEGY(CMDQ_ROWS)
#undef CMDQ_ROWS
}  // namespace rows

/// Calls `f` with a value of each row's type: the published ones, the library's own, then the variants.
template <class F>
void each_configuration(F f) {
#define CMDQ_PUBLISHED(policy, locked) \
  if constexpr (locked) f(rows::policy##_published{});
#define CMDQ_OWN(policy, locked) \
  if constexpr (!(locked)) f(rows::policy{});
#define CMDQ_VARIANT(policy, locked) \
  if constexpr (locked) f(rows::policy{});
  CMDQ_FOR_EACH_STRATEGY(CMDQ_PUBLISHED)
  CMDQ_FOR_EACH_STRATEGY(CMDQ_OWN)
  CMDQ_FOR_EACH_STRATEGY(CMDQ_VARIANT)
#undef CMDQ_PUBLISHED
#undef CMDQ_OWN
#undef CMDQ_VARIANT
}

template <class Row, class Completion>
struct simulated_config : freestanding_config {
  using platform = manycore::platform;
  using allocation = typename Row::allocation;
  using completion = Completion;
  using reclaim = typename Row::reclaim;
};

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/stats/event.hpp>

namespace cmdq::stats {

/// Counts nothing and is empty: the default. Cost: no instruction.
struct none {
  static constexpr bool timed = false;  ///< does it want to be told how long a wait took?
  // Inlined by force: mere calls of it would already change what else the compiler inlines.
  [[gnu::always_inline]] static constexpr void add(event, uint64_t = 1) noexcept {}
};

}  // namespace cmdq::stats

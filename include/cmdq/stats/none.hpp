// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/stats/event.hpp>

namespace cmdq::stats {

/// Counts nothing and is empty: the default. Cost: no instruction.
struct none {
  static constexpr void add(event, uint64_t = 1) noexcept {}
};

}  // namespace cmdq::stats

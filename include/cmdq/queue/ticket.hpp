// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/core/status.hpp>

namespace cmdq {

/// A list that was submitted without waiting. A plain value: may be copied and kept; need not be waited for.
struct ticket {
  position start = 0;
  position end = 0;      ///< behind the list and, where it has its own, its CMD_SYNC
  position done_at = 0;  ///< done once software CONS has reached this
  uint32_t entered = 0;  ///< errors seen before
};

/// What an insertion did. `code` is ok when all of it is in the ring and, if asked for, done.
struct outcome {
  status code = status::ok;
  uint32_t inserted = 0;  ///< commands now in the ring: they will be executed, whatever `code` says
  uint32_t done = 0;      ///< of those, commands that a completed CMD_SYNC covers
  uint32_t lists = 0;     ///< contiguous lists it was split into (batch limit, classes, quirks)
  position first = 0;     ///< where the first of them starts in the ring, free-running; for tracing
  [[nodiscard]] constexpr bool ok() const noexcept { return code == status::ok; }
};

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdint.h>

namespace cmdq {

/// The parts of a queue lie right behind each other: ring, error handler, sync wait, allocation. Each finds those
/// before it by distances that are known when it is compiled, so no address is stored, and none is loaded. Each is
/// aligned to a cache line, and command_queue checks that nothing lies between.
template <class Before, class Part>
[[nodiscard]] [[gnu::always_inline]] inline Before& part_before(const Part* part, uintptr_t between = 0) noexcept {
  static_assert(sizeof(Before) % 64 == 0 && alignof(Part) == 64 && alignof(Before) == 64);
  return *reinterpret_cast<Before*>(reinterpret_cast<uintptr_t>(part) - between - sizeof(Before));
}

/// Do words at these offsets of one object lie on different cache lines? Asserted where different CPUs write them.
[[nodiscard]] constexpr bool on_lines_of_their_own(uintptr_t a, uintptr_t b) noexcept { return a / 64 != b / 64; }

}  // namespace cmdq

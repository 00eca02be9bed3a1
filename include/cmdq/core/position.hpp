// SPDX-License-Identifier: BSL-1.0
// Ring positions. In software they are free-running 32-bit counters; only the registers see them modulo 2N
// (index bits plus one wrap bit). A stale position therefore cannot alias one that is a lap or two younger: two
// positions compare rightly while they are less than 2^31 entries apart.
#pragma once

#include <stdint.h>

namespace cmdq {

using position = uint32_t;

/// Smallest and largest ring of any family (SMMUv3 CMDQ_BASE.LOG2SIZE goes to 19; below 2 no list with its sync command
/// fits twice). A family may have closer limits.
inline constexpr unsigned min_log2_size = 2;
inline constexpr unsigned max_log2_size = 19;

/// Entries from `from` up to `to`; negative when `to` is behind. Modular.
constexpr int32_t distance(position from, position to) noexcept { return static_cast<int32_t>(to - from); }

/// True once everything before `p + 1`, that is the entry at `p`, lies behind `cons`.
constexpr bool passed(position cons, position p) noexcept { return distance(p, cons) > 0; }

/// True when `p` is at or behind `cons`: the half-open range ending at `p` is consumed.
constexpr bool reached(position cons, position p) noexcept { return distance(p, cons) >= 0; }

/// Shape of a ring of 2^log2 entries.
struct geometry {
  uint32_t log2 = min_log2_size;
  uint32_t index_mask = (1U << log2) - 1;
  uint32_t register_mask = (2U << log2) - 1;
  uint32_t size = 1U << log2;

  [[nodiscard]] constexpr uint32_t entries() const noexcept { return size; }
  [[nodiscard]] constexpr uint32_t slot(position p) const noexcept { return p & index_mask; }
  /// 0 on even laps, 1 on odd ones: the wrap bit, and the value that "not yet valid" has.
  [[nodiscard]] constexpr uint32_t wrap(position p) const noexcept { return (p >> log2) & 1U; }
  /// As CMDQ_PROD and CMDQ_CONS hold it: index and wrap bit.
  [[nodiscard]] constexpr uint32_t to_register(position p) const noexcept { return p & register_mask; }
  /// Distance 0..2N-1 from `base` forward to a register value.
  [[nodiscard]] constexpr uint32_t ahead(position base, uint32_t reg) const noexcept {
    return (reg - base) & register_mask;
  }
  /// "Empty" and "full" of two register values (SMMUv3: index equal and wrap equal, or index equal and wrap different).
  [[nodiscard]] constexpr bool empty(uint32_t prod, uint32_t cons) const noexcept {
    return to_register(prod) == to_register(cons);
  }
  [[nodiscard]] constexpr bool full(uint32_t prod, uint32_t cons) const noexcept {
    return ahead(cons, prod) == entries();
  }
};

/// What a register of a device that has left the bus reads as.
inline constexpr uint32_t device_gone = 0xffffffffU;

}  // namespace cmdq

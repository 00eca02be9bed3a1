// SPDX-License-Identifier: BSL-1.0
// How the registers of a family hold a position, and how many entries that leaves usable.
#pragma once

#include <cmdq/core/position.hpp>

namespace cmdq {

/// Index and one wrap bit: a full ring differs from an empty one.
struct wrapped_positions {
  static constexpr bool has_wrap = true;
  static constexpr uint32_t spare = 0;  ///< entries that stay free

  static constexpr uint32_t to_register(geometry g, position p) noexcept { return g.to_register(p); }
  /// Can a device of this ring show `reg`?
  static constexpr bool valid(geometry g, uint32_t reg) noexcept { return reg <= g.register_mask; }
  /// Entries from `base` forward to the register.
  static constexpr uint32_t ahead(geometry g, position base, uint32_t reg) noexcept { return g.ahead(base, reg); }
};

/// An index without wrap bit, counted in units of 2^Shift bytes (0: the index itself). Equal registers mean an empty
/// ring, so `Spare` entries stay free: at least 1. `MayShowEnd`: the consumer's register may stand at the ring's end
/// for its start.
template <unsigned Shift, uint32_t Spare = 1, bool MayShowEnd = false>
struct plain_positions {
  static_assert(Spare >= 1, "equal registers mean an empty ring: at least one entry stays free");
  static constexpr bool has_wrap = false;
  static constexpr uint32_t spare = Spare;

  static constexpr uint32_t to_register(geometry g, position p) noexcept { return g.slot(p) << Shift; }
  static constexpr bool valid(geometry g, uint32_t reg) noexcept {
    const uint32_t index = reg >> Shift;
    return index << Shift == reg && (index <= g.index_mask || (MayShowEnd && index == g.size));
  }
  static constexpr uint32_t ahead(geometry g, position base, uint32_t reg) noexcept {
    return ((reg >> Shift) - base) & g.index_mask;
  }
};

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// Strategies with one policy replaced by a wrong one, to see that the test notices. Everything else is as shipped.
#pragma once

#include "scenarios.hpp"

namespace producers {

/// cmpxchg_loop on another ring than the queue's: Replace<Ring> derives from it and hides one of its steps.
template <template <class> class Replace>
struct cmpxchg_loop_on {
  static constexpr bool claims_before_space = cmdq::allocation::cmpxchg_loop::claims_before_space;
  static constexpr bool needs_range_ends = cmdq::allocation::cmpxchg_loop::needs_range_ends;
  static constexpr bool spreads_valid_bits = cmdq::allocation::cmpxchg_loop::spreads_valid_bits;
  static constexpr bool gathers_in_groups = cmdq::allocation::cmpxchg_loop::gathers_in_groups;

  template <class Ring, class Sync, class Reclaim>
  struct state : cmdq::allocation::cmpxchg_loop::state<Replace<Ring>, Sync, Reclaim> {
    state(Ring& ring, Sync& sync) noexcept
        : cmdq::allocation::cmpxchg_loop::state<Replace<Ring>, Sync, Reclaim>(static_cast<Replace<Ring>&>(ring), sync) {
    }
  };
};

/// Owners do not wait for their predecessor: two may write PROD in the wrong order.
template <class Ring>
struct no_hand_over : Ring {
  void take_turn(cmdq::position) noexcept {}
};

/// Takes the ring for twice as large when it looks for space: unconsumed entries are overwritten.
template <class Ring>
struct overwriting : Ring {
  [[nodiscard]] cmdq::geometry shape() const noexcept { return {Ring::shape().log2 + 1}; }
};

template <class Platform, class Allocation>
int run_broken(const char* name) {
  const uint32_t cpus = board::start_crew();
  uint32_t phases = 0;
  print_head(cpus);
  const bool ok = trial<config<Platform, Allocation>>(name, cpus, phases).run(1000);
  return ok ? 0 : 1;
}

}  // namespace producers

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq {

inline constexpr uint32_t max_groups = 64;

/// Where CPUs that are near each other gather their lists before one of them, the leader, claims for all in the ring.
/// Memory only; allocation::gathering works on it. Four cache lines, each written by the group's CPUs alone.
template <class P>
struct alignas(64) gather_group {
  typename P::template atomic<uint64_t> word;                ///< as the claim word, but of positions in this group
  alignas(64) typename P::template atomic<position> opened;  ///< up to here the lists know their place in the ring
  typename P::template plain<uint32_t> shift;                ///< of those opened last: ring minus group position
  alignas(64) typename P::template atomic<position> turn;    ///< up to here the lists are valid: the next leader's turn
  typename P::template plain<position> claimed;  ///< end of the group's last claim in the ring, with its CMD_SYNC
  typename P::template plain<position> looked;   ///< in the ring, when a leader last looked how old `done` is
  alignas(64) typename P::template atomic<position> done;  ///< ring position up to which the group's lists are done
};

}  // namespace cmdq

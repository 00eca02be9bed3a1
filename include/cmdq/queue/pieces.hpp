// SPDX-License-Identifier: BSL-1.0
// How a caller's commands are cut into contiguous lists.
#pragma once

#include <cmdq/queue/options.hpp>

namespace cmdq {

/// The next list to insert: `n` commands from the front. `sync`: it must end in a CMD_SYNC that is waited for.
struct piece {
  uint32_t n = 0;
  bool sync = false;
  bool repeat = false;
  bool valid = true;        ///< false: what stands at the front must not be inserted
  status why = status::ok;  ///< then: invalid_argument for a CMD_SYNC, else what permits() says
};

/// What a caller may not insert: a CMD_SYNC, and what the device must not be given.
template <class F>
constexpr status refused(const options_for<F>& o, bool restricted, const typename F::command& c) noexcept {
  if (F::class_of(c) == command_class::sync) return status::invalid_argument;
  return restricted ? F::permits(o.device, c).code : status::ok;
}

/// Cuts at the batch limit; between address-translation and ATC invalidations, with a CMD_SYNC, since the ATC may
/// refill from a TLB entry that is not gone yet (bug L20); with `sync_every_batch` between all classes; before what is
/// refused. `sync`: the caller waits. Cost: a look at each opcode; where options.restricted(), at each command.
template <class F>
constexpr piece next_piece(const options_for<F>& o, const typename F::command* list, uint32_t n, bool sync) noexcept {
  if (n == 0) return {0, sync};
  const bool restricted = o.restricted();
  const command_class first = F::class_of(list[0]);
  const bool atc = first == command_class::atc;
  const uint32_t limit = o.sync_every_batch ? o.batch_limit - 1 : o.batch_limit;
  uint32_t take = 1;
  bool other_class = false;
  while (take < n && take < limit && !other_class) {
    if (refused(o, restricted, list[take]) != status::ok) break;  // when it comes to the front
    const command_class next = F::class_of(list[take]);
    other_class = next != first && (o.sync_every_batch || atc || next == command_class::atc);
    if (!other_class) ++take;
  }
  const bool repeat = o.repeat_invalidations && (first == command_class::tlb || first == command_class::configuration);
  // ATC errors are reported at a CMD_SYNC only: such a list always has its own.
  const bool own = other_class || atc || o.sync_every_batch || repeat;
  const status why = refused(o, restricted, list[0]);
  return {take, own || (sync && take == n), repeat, why == status::ok, why};
}

}  // namespace cmdq

// SPDX-License-Identifier: BSL-1.0
// How a caller's commands are cut into contiguous lists.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/queue/options.hpp>

namespace cmdq {

/// The next list to insert: `n` commands from the front. `sync`: it must end in a CMD_SYNC that is waited for.
struct piece {
  uint32_t n = 0;
  bool sync = false;
  bool repeat = false;
  bool valid = true;  ///< false: a CMD_SYNC or an unknown command class stands at the front
};

/// Cuts at the batch limit; between address-translation and ATC invalidations, with a CMD_SYNC, since the ATC may
/// refill from a TLB entry that is not gone yet (bug L20); with `sync_every_batch` between all classes. `sync`: the
/// caller waits. Cost: a look at each opcode.
constexpr piece next_piece(const options& o, const command* list, uint32_t n, bool sync) noexcept {
  if (n == 0) return {0, sync, false, true};
  const command_class first = class_of(list[0].word[0]);
  const bool atc = first == command_class::atc;
  const uint32_t limit = o.sync_every_batch ? o.batch_limit - 1 : o.batch_limit;
  uint32_t take = 1;
  bool other_class = false;
  while (take < n && take < limit && !other_class) {
    const command_class next = class_of(list[take].word[0]);
    if (next == command_class::sync) break;  // refused when it comes to the front
    other_class = next != first && (o.sync_every_batch || atc || next == command_class::atc);
    if (!other_class) ++take;
  }
  const bool repeat = o.repeat_invalidations && (first == command_class::tlb || first == command_class::configuration);
  // ATC errors are reported at a CMD_SYNC only: such a list always has its own.
  const bool own = other_class || atc || o.sync_every_batch || repeat;
  return {take, own || (sync && take == n), repeat, first != command_class::sync};
}

}  // namespace cmdq

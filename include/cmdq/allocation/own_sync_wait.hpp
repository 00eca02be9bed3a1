// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/reservation.hpp>
#include <cmdq/completion/sync_wait.hpp>

namespace cmdq::allocation {

/// What the strategies share whose lists end in a CMD_SYNC of their own: waiting for it, and giving the space back.
/// `Self` has `sync_`, `reclaim_` and `give_up(r)`, for a list that is not done, and makes this its friend.
template <class Self, class who>
class own_sync_wait {
 public:
  /// Waits until the list's CMD_SYNC is done. Precondition: r.waited.
  [[gnu::always_inline]] status complete(const reservation& r, who& w) noexcept {
    const sighting seen = self().sync_.wait(self(), r.end() - 1, w);
    if (seen.code == status::ok) {
      self().reclaim_.leave(self(), seen.cons);
    } else {
      self().give_up(r);
    }
    return seen.code;
  }

  /// Asks for a ticket's list without waiting: ok, would_block or device_fault.
  status check(position done_at, who& w) noexcept { return offered(self().sync_.check(self(), done_at - 1, true, w)); }

  /// Waits for a ticket's list within the budget.
  status await_ticket(position done_at, who& w) noexcept { return offered(self().sync_.wait(self(), done_at - 1, w)); }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  status offered(const sighting& seen) noexcept {
    if (seen.code == status::ok) self().reclaim_.offer(self(), seen.cons);
    return seen.code;
  }
};

}  // namespace cmdq::allocation

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq {

/// The one way to write the producer's register where it has two kinds of writers: owners in their turn, and whoever
/// handled an error of a device that goes on at the next write only. The latter would set the register back with what
/// it read before. Here one is inside at a time, and nobody waits: who finds it taken leaves word, and the one inside
/// writes once more. Usable from an interrupt handler that interrupted the one inside.
template <class P>
class tail_writer {
 public:
  /// `write()` reads what the device is to be told, and tells it; at least once after this call began. Lock-free.
  template <class Write>
  void tell(const Write& write) noexcept {
    if ((word_.fetch_or(held | wanted, at<site::tail_ask>) & held) != 0) return;
    uint32_t seen = held;
    do {
      word_.fetch_and(held, at<site::tail_ask>);
      write();
      seen = held;
    } while (!word_.compare_exchange(seen, 0, at<site::tail_leave>));
  }

 private:
  static constexpr uint32_t held = 1;
  static constexpr uint32_t wanted = 2;
  typename P::template atomic<uint32_t> word_;
};

/// Where owners are the only ones.
struct single_tail_writer {
  template <class Write>
  static void tell(const Write& write) noexcept {
    write();
  }
};

}  // namespace cmdq

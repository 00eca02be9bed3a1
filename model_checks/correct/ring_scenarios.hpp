// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/fixtures.hpp"

#include <cmdq/queue/ring.hpp>

namespace cmdq::checks {

/// Two CPUs write and mark one entry each; a third waits for both and reads them.
template <template <class> class Ring, unsigned Log2, position First>
struct valid_bits : scenario {
  prod_only_device device;
  ring_storage memory;
  Ring<ring_config<>> ring{
      device, {{.log2_size = Log2, .producers = 1, .first = First}, memory.at_device_address(ring_address)}};

  void thread(unsigned index) override {
    const position mine = First + index;
    if (index < 2) {
      ring.entry(mine).put({{7 + index, 9 + index}});
      ring.mark_valid(mine, mine + 1);
      return;
    }
    stats::none stats;
    caller<P, stats::none> me{time_budget<P>(no_deadline), stats};
    position from = First;
    check(ring.await_valid(from, First + 2, me), "a wait without a deadline ends by the marks");
    for (unsigned i = 0; i < 2; ++i) {
      const command c = ring.entry(First + i).get();
      check(c.word[1] == 9 + i, "a valid entry is complete");
      check(c.word[0] == 7 + i, "a valid entry is the new one");
    }
  }
};

/// Each thread tells the device of its own entry, in its turn.
template <template <class> class Ring, unsigned Owners>
struct owners_turn : scenario {
  prod_only_device device;
  ring_storage memory;
  Ring<ring_config<>> ring{device, {{.log2_size = 3, .producers = 1}, memory.at_device_address(ring_address)}};

  void thread(unsigned index) override {
    stats::none stats;
    caller<P, stats::none> me{time_budget<P>(no_deadline), stats};
    check(ring.await_turn(index, me), "a wait without a deadline ends by the turn");
    ring.tell(index, index + 1, me);
  }
  void finish() override { check(device.last() == Owners, "the device was told everything"); }
};

}  // namespace cmdq::checks

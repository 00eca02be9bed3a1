// SPDX-License-Identifier: BSL-1.0
// cmpxchg_loop with one step of its ring replaced by a wrong one, to see that the test notices. Everything else is as
// shipped.
#pragma once

#include "restless.hpp"
#include "scenarios.hpp"

#include <cmdq/allocation/cmpxchg_loop.hpp>

namespace producers {

using shipped = config<restless, cmdq::allocation::cmpxchg_loop>;
/// Names of the rings below.
struct no_hand_over : shipped {};
struct overwriting : shipped {};

template <class Config>
int run_broken(const char* name) {
  const uint32_t cpus = board::start_crew();
  uint32_t phases = 0;
  print_head(cpus);
  const bool ok = trial<Config>(name, cpus, phases).run(1000);
  return ok ? 0 : 1;
}

}  // namespace producers

/// Owners do not wait for their predecessor: two may write PROD in the wrong order.
template <class Device>
class cmdq::ring<Device, producers::no_hand_over> : public cmdq::ring<Device, producers::shipped> {
 public:
  using cmdq::ring<Device, producers::shipped>::ring;
  using typename cmdq::ring<Device, producers::shipped>::who;
  [[nodiscard]] bool has_turn(position) const noexcept { return true; }
  bool await_turn(position, who&) noexcept { return true; }
};

/// Takes the ring for twice as large when it looks for space: unconsumed entries are overwritten.
template <class Device>
class cmdq::ring<Device, producers::overwriting> : public cmdq::ring<Device, producers::shipped> {
  using base = cmdq::ring<Device, producers::shipped>;

 public:
  using base::base;
  [[nodiscard]] uint32_t capacity() const noexcept { return 2 * base::capacity(); }
};

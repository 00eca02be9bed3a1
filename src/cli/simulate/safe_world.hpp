// SPDX-License-Identifier: BSL-1.0
// Simulated time with a display in it: what moves while a CPU unmaps and an SMMU waits for the display's SAFE signal.
#pragma once

#include <cmdq/cmdq.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/model/safe_gate.hpp>
#include <cmdq/model/scanout.hpp>

#include <algorithm>
#include <random>

namespace cmdq::cli {

/// std::atomic with a clock that only the simulation moves.
struct simulated_time : platform::std_atomic {
  static inline std::uint64_t clock_ns = 1;
  static std::uint64_t now_ns() noexcept { return clock_ns; }
};

/// The times of this simulation. Chosen, not measured: what a SoC's display shows is scanout_for()'s, others use memory
/// in bursts, and a CPU unmaps as fast as it can.
struct scenario {
  model::scanout_options screen{};
  std::uint64_t invalidation_ns = 3000;  ///< the display's fetches stand still that long while an invalidation runs
  std::uint64_t drought_ns = 2000;       ///< longest burst of others, whose fetches the display's wait for
  unsigned others_priority = 4;          ///< of those; not waited for by a display that is more urgent or in danger
  std::uint64_t between_droughts_ns = 40'000;
  std::uint64_t unmap_ns = 1000;  ///< most CPU time between two invalidations
};

/// Display, memory traffic and clock: everything that moves when time passes.
class world {
 public:
  world(const model::signal_tables& tables, model::pipe_use use, const scenario& s, std::uint64_t seed)
      : display(tables, use, s.screen), scenario_(s), random_(seed) {
    simulated_time::clock_ns = 1;
    plan_drought();
  }

  /// `fed`: the display's fetches are not held up by an invalidation.
  void pass(std::uint64_t ns, bool fed) {
    while (ns > 0) {
      const std::uint64_t now = simulated_time::clock_ns;
      if (now >= drought_end_) plan_drought();
      const bool drought = now >= drought_start_;
      const std::uint64_t until = (drought ? drought_end_ : drought_start_) - now;
      const std::uint64_t part = std::min({ns, until, std::uint64_t{200}});
      const bool urgent = display.danger() || display.priority() > scenario_.others_priority;
      display.advance(part, fed && (!drought || urgent));
      simulated_time::clock_ns += part;
      ns -= part;
    }
  }
  /// Evenly spread over [from, to].
  std::uint64_t between(std::uint64_t from, std::uint64_t to) { return from + random_() % (to - from + 1); }

  model::scanout display;

 private:
  void plan_drought() {
    const std::uint64_t mean = scenario_.between_droughts_ns;
    drought_start_ = simulated_time::clock_ns + between(mean / 4, 2 * mean - mean / 4);
    drought_end_ = drought_start_ + between(1, scenario_.drought_ns);
  }

  scenario scenario_;
  std::mt19937_64 random_;
  std::uint64_t drought_start_ = 0;
  std::uint64_t drought_end_ = 0;
};

/// The device's side: a CMD_SYNC that completes invalidations waits at the gate, then holds the display's fetches up.
struct gated_hooks : model::null_hooks {
  world* around = nullptr;
  model::safe_gate* gate = nullptr;
  const scenario* times = nullptr;
  model::gated_syncs syncs;

  void spend(std::uint64_t ns) { around->pass(ns, true); }
  std::uint64_t hold_ns(const command& c) {
    if (!syncs.holds(c)) return 0;
    gate->wait([this] { return around->display.safe(); }, [this](std::uint64_t ns) { around->pass(ns, true); });
    around->pass(times->invalidation_ns, false);
    return 0;  // the time has passed already
  }
};

}  // namespace cmdq::cli

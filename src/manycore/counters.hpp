// SPDX-License-Identifier: BSL-1.0
// What the simulated machine counts: per ordering site, per cache line, and the spans of a trace.
#pragma once

#include <array>
#include <cmdq/platform/orderings.hpp>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "topology.hpp"

namespace cmdq::manycore {

inline constexpr unsigned named_sites = static_cast<unsigned>(site::count);

/// Places in the program that are no ordering site but cost time as well.
enum extra_site : unsigned {
  plain_data = named_sites,  ///< P::plain: the words of entries
  prod_write,                ///< device register PROD
  cons_read,                 ///< device register CONS
  other_register,
  clock_read,
  other_work,  ///< what a CPU does besides the queue
  all_sites
};

/// Name of an ordering site or of an extra one.
const char* site_name(unsigned s) noexcept;

/// Where a CPU's time goes; the layers of the stacked chart.
enum class phase : unsigned { work, claim, entries, valid, hand_over, device, completion, space, other, count };
inline constexpr unsigned phases = static_cast<unsigned>(phase::count);
const char* phase_name(phase p) noexcept;
phase phase_of(unsigned s) noexcept;

struct site_counters {
  std::uint64_t accesses = 0;
  std::uint64_t transfers = 0;  ///< accesses for which the line had to move
  std::uint64_t failed = 0;     ///< failed compare-exchanges
  picoseconds queued = 0;       ///< behind earlier requests for the line or port
  picoseconds moving = 0;       ///< hits, transfers and retries themselves
  picoseconds asleep = 0;       ///< waiting for somebody else's write
};

struct line_counters {
  unsigned first_site = 0;  ///< who touched the line first; serves as its name
  std::uint64_t transfers = 0;
  std::uint64_t failed = 0;
  picoseconds queued = 0;
};

using site_table = std::array<site_counters, all_sites>;
using phase_table = std::array<picoseconds, phases>;

/// Time by phase, summed over all CPUs.
phase_table by_phase(const site_table& sites) noexcept;

/// One span of an actor's time line.
struct span {
  const char* name;
  unsigned actor;
  picoseconds begin;
  picoseconds end;
};

/// Chrome trace format ("X" events, microseconds): one thread per actor.
std::string chrome_trace(const std::vector<span>& spans, const std::vector<std::string>& actor_names);

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
// What a replay left behind, and the check of it. Knows nothing of the queue: only what was issued, what the device
// executed where, and what each issuer saw when its call returned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/stream.hpp"

namespace cmdq::cli {

/// What the device did at one entry, counted from the first entry of the run.
struct device_note {
  command what;
  std::uint32_t times = 0;
};

/// Where a list went, in the order in which its thread issued it.
struct placed {
  std::uint32_t list = 0;   ///< index into stream::lists
  std::uint32_t first = 0;  ///< entry of its first command
  bool done = false;        ///< at the return of the call the device had executed the list and a CMD_SYNC behind it
};

struct evidence {
  std::vector<device_note> device;
  std::vector<std::vector<placed>> threads;
  std::uint32_t told = 0;      ///< entries that PROD told the device in all
  std::uint32_t overflow = 0;  ///< executed behind the end of `device`
};

/// Empty when every command was executed exactly once and in its list's order, no lists interleave, each thread's lists
/// are in its order, nothing but CMD_SYNCs stands between the lists, and each issuer that waited for its list came back
/// only after the device had done it. Else the first thing that is wrong.
std::string check_replay(const stream& s, const evidence& e);

/// Did the device execute [first, first + n) and a CMD_SYNC behind it? Looks no further than that CMD_SYNC, so an
/// issuer may ask when its call returns, while the device goes on.
bool executed_with_sync(const std::vector<device_note>& device, std::uint32_t first, std::uint32_t n);

}  // namespace cmdq::cli

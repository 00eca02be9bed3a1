// SPDX-License-Identifier: BSL-1.0
// The explorer's scenarios as the program sees them. They are compiled apart, on a platform of their own.
#pragma once

#include "explorer.hpp"

#include <string>
#include <vector>

namespace cmdq::exhaust {

/// everyday: in every test run. by_count: in every test run where few executions are recorded, else deep. deep: minutes
/// to hours. wrong: a known bug, which must be found.
enum class kind : std::uint8_t { everyday, by_count, deep, wrong };

struct listed {
  std::string name;
  std::string proves;
  std::string bounds;
  kind what;
  const char* not_found_because;  ///< wrong: why it cannot be found here, or not soon; null where it must be
  bool broken_site;               ///< wrong: one access is broken, so that it can be mended and passes
};

std::vector<listed> scenarios();

/// Explores one of them. `executions`, `seconds`: where to cut it, 0 for never. A thread that stops for ever is stopped
/// at each of its steps, one search after the other; the findings are of all of them. `sound`: with the broken access
/// of a wrong variant mended.
findings explore(const std::string& name, std::uint64_t executions, double seconds, bool sound);

}  // namespace cmdq::exhaust

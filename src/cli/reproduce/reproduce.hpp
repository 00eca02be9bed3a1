// SPDX-License-Identifier: BSL-1.0
// `cmdq reproduce`: published figures beside the library's own. One function per section.
#pragma once

#include <string>

#include "reproduce/figure.hpp"
#include "topology.hpp"

namespace cmdq::cli {

/// What a section is computed from.
struct reproduce_input {
  parameters p{};
  manycore::topology machine{};
  bool figures_only = false;  ///< for --sensitivity: nothing but the figures
};

reproduction reproduce_contention(const reproduce_input& in);
reproduction reproduce_completion(const reproduce_input& in);
reproduction reproduce_safe(const reproduce_input& in);
reproduction reproduce_huge_pages(const reproduce_input& in);
reproduction reproduce_direct_calls(const reproduce_input& in);

}  // namespace cmdq::cli

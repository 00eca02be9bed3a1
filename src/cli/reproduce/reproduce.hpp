// SPDX-License-Identifier: BSL-1.0
// `cmdq reproduce`: published figures beside the library's own. One function per figure or table; each returns its part
// of the report, and `all` puts them together.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace cmdq::cli {

struct reproduction {
  nlohmann::ordered_json json;
  std::string text;  ///< for the terminal
  std::string html;  ///< body of a section, charts inline
};

reproduction reproduce_contention();
reproduction reproduce_completion();
reproduction reproduce_safe();
reproduction reproduce_huge_pages();
reproduction reproduce_direct_calls();

}  // namespace cmdq::cli

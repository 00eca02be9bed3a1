// SPDX-License-Identifier: BSL-1.0
// Charts as inline SVG, for reports that open anywhere without a network.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cmdq::cli {

struct chart_line {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool limit = false;        ///< drawn dashed: a bound, not a result
  bool points_only = false;  ///< published figures: marks without a line
};

struct chart_axes {
  std::string title;
  std::string x;
  std::string y;
  bool log_x = false;
  bool log_y = false;
};

std::string line_chart(const chart_axes& axes, const std::vector<chart_line>& lines);

/// One horizontal bar per row, in shares that add up to its length.
struct stacked_bar {
  std::string name;
  std::vector<double> parts;
};
std::string stacked_chart(const std::string& title, const std::string& unit, const std::vector<std::string>& parts,
                          const std::vector<stacked_bar>& bars);

/// & < > " as HTML writes them.
std::string escaped(const std::string& text);

}  // namespace cmdq::cli

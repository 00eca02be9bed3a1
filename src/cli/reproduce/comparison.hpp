// SPDX-License-Identifier: BSL-1.0
// Published and own figures side by side, as text, JSON and HTML.
#pragma once

#include <string>
#include <vector>

#include "reproduce/reproduce.hpp"

namespace cmdq::cli {

/// One cell of a published table.
struct compared {
  std::string row;
  std::string column;
  double published_low = 0;
  double published_high = 0;  ///< equal to low where one number was published
  double own = 0;
  bool fitted = false;
  std::string note;  ///< why it is off, where that is known

  [[nodiscard]] double published() const { return (published_low + published_high) / 2; }
  /// Relative to the nearer end of what was published; 0 inside.
  [[nodiscard]] double relative_error() const;
};

/// A report's part: the cells as a table and a chart of own against published.
/// `text` and `html` are appended to, `json` gets an array "rows".
void add_comparison(reproduction& to, const std::vector<compared>& cells, const std::string& title,
                    const std::string& unit, int decimals);

/// A paragraph in both.
void add_paragraph(reproduction& to, const std::string& words);

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// A published figure beside ours, with how ours came about and what dull guesses would have said.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/parameters.hpp"

namespace cmdq::cli {

/// A guess that needs no model. It may use inputs and fitted figures, never the figure that it guesses.
struct null_model {
  std::string name;
  double value = 0;
};

struct figure {
  std::string name;
  std::string unit;
  double low = 0;   ///< what was published
  double high = 0;  ///< equal to low where one number was
  double ours = 0;
  origin how = origin::predicted;
  std::vector<null_model> nulls{};
  std::string note{};     ///< why it is off, what it was fitted on
  bool measured = false;  ///< on the machine that runs this, so different each time

  [[nodiscard]] double published() const { return (low + high) / 2; }
  /// Distance from what was published; 0 inside its interval.
  [[nodiscard]] double error_of(double value) const;
  /// Of the published end that is nearer.
  [[nodiscard]] double relative_error() const;
  /// Predicted, and nearer to what was published than every null model: by a tenth of its error and 1 % of the figure.
  [[nodiscard]] bool better_than_nulls() const;
};

/// A section's part of the report.
struct reproduction {
  std::vector<figure> figures{};
  std::vector<std::pair<std::string, double>> fits{};  ///< parameters that this run fitted, with their values
  nlohmann::ordered_json json{};                       ///< beside the figures
  std::string text{};                                  ///< for the terminal
  std::string html{};                                  ///< body of a section, charts inline

  [[nodiscard]] unsigned predicted() const;
  [[nodiscard]] unsigned beat_nulls() const;
};

/// Appends the figures to text, JSON ("rows", "predicted", "beat_nulls") and HTML (table, chart).
void add_figures(reproduction& to, const std::string& title);

/// A paragraph in both.
void add_paragraph(reproduction& to, const std::string& words);

/// A table of text in both; the first row is the head.
void add_table(reproduction& to, const std::vector<std::vector<std::string>>& rows);

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
#include "reproduce/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "output/chart.hpp"

namespace cmdq::cli {

namespace {

std::string range(const compared& c, int decimals) {
  if (std::abs(c.published_high - c.published_low) < 1e-9) return fmt::format("{:.{}f}", c.published_low, decimals);
  return fmt::format("{:.{}f}..{:.{}f}", c.published_low, decimals, c.published_high, decimals);
}

std::string error_text(const compared& c) { return fmt::format("{:+.1f} %", 100 * c.relative_error()); }

nlohmann::ordered_json to_json(const compared& c) {
  nlohmann::ordered_json j = {{"row", c.row},
                              {"column", c.column},
                              {"published", c.published()},
                              {"published_low", c.published_low},
                              {"published_high", c.published_high},
                              {"own", c.own},
                              {"kind", c.fitted ? "fitted" : "predicted"},
                              {"relative_error", c.relative_error()}};
  if (!c.note.empty()) j["note"] = c.note;
  return j;
}

}  // namespace

double compared::relative_error() const {
  const double nearest =
      std::clamp(own, std::min(published_low, published_high), std::max(published_low, published_high));
  if (std::abs(nearest - own) < 1e-12) return 0;
  return std::abs(nearest) < 1e-12 ? own : (own - nearest) / std::abs(nearest);
}

void add_comparison(reproduction& to, const std::vector<compared>& cells, const std::string& title,
                    const std::string& unit, int decimals) {
  std::size_t row_width = 4;
  std::size_t column_width = 6;
  for (const compared& c : cells) {
    row_width = std::max(row_width, c.row.size());
    column_width = std::max(column_width, c.column.size());
  }
  to.text += fmt::format("{:<{}}  {:<{}}  {:>12}  {:>10}  {:>9}\n", unit, row_width, "", column_width, "published",
                         "own", "error");
  to.html += fmt::format("<table><tr><th>{}</th><th></th><th>published</th><th>own</th><th>error</th><th></th></tr>\n",
                         escaped(unit));
  chart_line fitted{"fitted", {}, false, true};
  chart_line predicted{"predicted", {}, false, true};
  chart_line equal{"equal", {}, true, false};
  double low = 0;
  double high = 0;
  for (const compared& c : cells) {
    const char* kind = c.fitted ? "fitted" : "predicted";
    to.text +=
        fmt::format("{:<{}}  {:<{}}  {:>12}  {:>10.{}f}  {:>9}  {}{}{}\n", c.row, row_width, c.column, column_width,
                    range(c, decimals), c.own, decimals, error_text(c), kind, c.note.empty() ? "" : "; ", c.note);
    to.html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.{}f}</td><td>{}</td><td>{} {}</td></tr>\n",
                           escaped(c.row), escaped(c.column), range(c, decimals), c.own, decimals, error_text(c), kind,
                           escaped(c.note));
    to.json["rows"].push_back(to_json(c));
    (c.fitted ? fitted : predicted).points.emplace_back(c.published(), c.own);
    low = std::min(low, c.published());
    high = std::max(high, c.published());
  }
  equal.points = {{low, low}, {high, high}};
  std::vector<chart_line> lines;
  if (!fitted.points.empty()) lines.push_back(fitted);
  if (!predicted.points.empty()) lines.push_back(predicted);
  lines.push_back(equal);
  to.html += "</table>\n" + line_chart({title, "published, " + unit, "own"}, lines);
}

void add_paragraph(reproduction& to, const std::string& words) {
  to.text += words + "\n";
  to.html += "<p>" + escaped(words) + "</p>\n";
}

}  // namespace cmdq::cli

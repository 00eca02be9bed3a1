// SPDX-License-Identifier: BSL-1.0
#include "reproduce/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "output/chart.hpp"

namespace cmdq::cli {

namespace {

std::string shown(double v) { return fmt::format("{:.4g}", v); }

std::string range(const figure& f) {
  return f.high - f.low < 1e-9 ? shown(f.low) : fmt::format("{}..{}", shown(f.low), shown(f.high));
}

std::string nulls_text(const figure& f) {
  std::string out;
  for (const null_model& n : f.nulls) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", n.name, shown(n.value));
  return out;
}

std::string verdict(const figure& f) {
  if (f.how != origin::predicted) return name(f.how);
  return f.better_than_nulls() ? "predicted, better than the guesses" : "predicted, no better than a guess";
}

nlohmann::ordered_json to_json(const figure& f) {
  nlohmann::ordered_json j = {{"figure", f.name},
                              {"unit", f.unit},
                              {"published", f.published()},
                              {"published_low", f.low},
                              {"published_high", f.high},
                              {"ours", f.ours},
                              {"kind", name(f.how)},
                              {"relative_error", f.relative_error()},
                              {"null_models", nlohmann::ordered_json::object()},
                              {"better_than_nulls", f.better_than_nulls()}};
  for (const null_model& n : f.nulls) j["null_models"][n.name] = n.value;
  if (f.measured) j["measured"] = true;
  if (!f.note.empty()) j["note"] = f.note;
  return j;
}

std::string chart(const reproduction& of, const std::string& title) {
  std::vector<chart_line> lines;
  double low = 0;
  double high = 0;
  for (const origin o : {origin::input, origin::fitted, origin::chosen, origin::predicted}) {
    chart_line l{name(o), {}, false, true};
    for (const figure& f : of.figures) {
      if (f.how != o) continue;
      l.points.emplace_back(f.published(), f.ours);
      low = std::min(low, f.published());
      high = std::max(high, f.published());
    }
    if (!l.points.empty()) lines.push_back(l);
  }
  lines.push_back({"equal", {{low, low}, {high, high}}, true, false});
  return line_chart({title, "published", "ours"}, lines);
}

}  // namespace

/// A prediction that is a guess but for the last digit is no better than it: a tenth of the guess's error must go, and
/// 1 % of what was published.
constexpr double least_gain = 0.1;
constexpr double least_margin = 0.01;

double figure::error_of(double value) const { return std::max({low - value, value - high, 0.0}); }

double figure::relative_error() const {
  const double nearest = std::clamp(ours, low, high);
  if (std::abs(nearest - ours) < 1e-12) return 0;
  return std::abs(nearest) < 1e-12 ? ours : (ours - nearest) / std::abs(nearest);
}

bool figure::better_than_nulls() const {
  return how == origin::predicted && std::all_of(nulls.begin(), nulls.end(), [&](const null_model& n) {
           const double guess = error_of(n.value);
           return error_of(ours) < guess * (1 - least_gain) - least_margin * std::abs(published());
         });
}

unsigned reproduction::predicted() const {
  return static_cast<unsigned>(
      std::count_if(figures.begin(), figures.end(), [](const figure& f) { return f.how == origin::predicted; }));
}
unsigned reproduction::beat_nulls() const {
  return static_cast<unsigned>(
      std::count_if(figures.begin(), figures.end(), [](const figure& f) { return f.better_than_nulls(); }));
}

void add_figures(reproduction& to, const std::string& title) {
  to.json["predicted"] = to.predicted();
  to.json["beat_nulls"] = to.beat_nulls();
  to.json["rows"] = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"figure", "unit", "published", "ours", "error", "null models", ""}};
  for (const figure& f : to.figures) {
    to.json["rows"].push_back(to_json(f));
    rows.push_back({f.name, f.unit, range(f), shown(f.ours), fmt::format("{:+.1f} %", 100 * f.relative_error()),
                    nulls_text(f), verdict(f) + (f.note.empty() ? "" : "; " + f.note)});
  }
  add_table(to, rows);
  add_paragraph(to, fmt::format("{} figures: {} predicted, {} of them better than the best null model.",
                                to.figures.size(), to.predicted(), to.beat_nulls()));
  to.html += chart(to, title);
}

void add_paragraph(reproduction& to, const std::string& words) {
  to.text += words + "\n";
  to.html += "<p>" + escaped(words) + "</p>\n";
}

void add_table(reproduction& to, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == width.size()) width.push_back(0);
      width[i] = std::max(width[i], row[i].size());
    }
  to.html += "<table>\n";
  for (const auto& row : rows) {
    const char* const cell = &row == &rows.front() ? "th" : "td";
    std::string line;
    to.html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], width[i]);
      to.html += fmt::format("<{0}>{1}</{0}>", cell, escaped(row[i]));
    }
    to.html += "</tr>\n";
    to.text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  to.html += "</table>\n";
  to.text += "\n";
}

}  // namespace cmdq::cli

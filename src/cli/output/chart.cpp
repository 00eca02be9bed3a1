// SPDX-License-Identifier: BSL-1.0
#include "output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cmdq::cli {

namespace {

constexpr double width = 720;
constexpr double height = 380;
constexpr double left = 80;
constexpr double right = 180;
constexpr double top = 36;
constexpr double bottom = 48;

constexpr std::array colours = {"#1b6ca8", "#c8553d", "#2a7f62", "#8d5a97", "#b08900",
                                "#5c6b73", "#d1495b", "#3d5a80", "#7f7f7f"};
const char* colour(std::size_t i) { return colours[i % colours.size()]; }

/// One axis: from values to places on the page, and where its ticks are.
class scale {
 public:
  scale(bool log, double from, double to) : log_(log), from_(from), to_(to) {}

  void include(double v) {
    if (log_ && v <= 0) return;
    least_ = std::min(least_, v);
    most_ = std::max(most_, v);
  }
  void finish() {
    if (least_ > most_) least_ = most_ = 1;
    if (!log_) least_ = std::min(0.0, least_);
    if (least_ == most_) most_ = least_ + (least_ == 0 ? 1 : std::abs(least_));
    if (log_) {
      least_ = std::pow(10, std::floor(std::log10(least_) + 1e-9));
      most_ = std::pow(10, std::ceil(std::log10(most_) - 1e-9));
    } else {
      const double step = tick_step();
      most_ = std::ceil(most_ / step - 1e-9) * step;
    }
  }
  [[nodiscard]] double at(double v) const {
    const double share = log_ ? (std::log(v) - std::log(least_)) / (std::log(most_) - std::log(least_))
                              : (v - least_) / (most_ - least_);
    return from_ + share * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    if (log_) {
      for (double v = least_; v <= most_ * 1.0001; v *= exact_ ? 2 : 10) out.push_back(v);
    } else {
      for (double v = least_; v <= most_ + tick_step() / 1000; v += tick_step()) out.push_back(v);
    }
    return out;
  }
  /// For counts of CPUs: the axis ends at the data, ticks at powers of two.
  void finish_exact() {
    exact_ = true;
    if (least_ >= most_) most_ = least_ * 2;
  }

 private:
  [[nodiscard]] double tick_step() const {
    const double rough = (most_ - least_) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double m : {1.0, 2.0, 5.0})
      if (rough <= m * power) return m * power;
    return 10 * power;
  }
  bool log_;
  bool exact_ = false;
  double from_;
  double to_;
  double least_ = std::numeric_limits<double>::max();
  double most_ = std::numeric_limits<double>::lowest();
};

std::string number(double v) {
  const double a = std::abs(v);
  if (a >= 1e6) return fmt::format("{:g}M", v / 1e6);
  if (a >= 1e4) return fmt::format("{:g}k", v / 1e3);
  return fmt::format("{:g}", v);
}

std::string text(double x, double y, const char* anchor, const std::string& s, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(s));
}

std::string open(double h) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" xmlns=\"http://www.w3.org/2000/svg\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, h, width);
}

std::string frame(const chart_axes& axes, const scale& x, const scale& y) {
  std::string out = text(left, 20, "start", axes.title, " font-weight=\"bold\"");
  for (const double v : x.ticks())
    out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#eee\"/>\n", x.at(v), top,
                       height - bottom) +
           text(x.at(v), height - bottom + 16, "middle", number(v));
  for (const double v : y.ticks())
    out += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#eee\"/>\n", left,
                       width - right, y.at(v)) +
           text(left - 6, y.at(v) + 4, "end", number(v));
  out += text((left + width - right) / 2, height - 10, "middle", axes.x);
  out += text(16, (top + height - bottom) / 2, "middle", axes.y,
              fmt::format(" transform=\"rotate(-90 16 {:.0f})\"", (top + height - bottom) / 2).c_str());
  return out;
}

std::string drawn(const chart_line& line, const char* ink, const scale& x, const scale& y) {
  std::string out;
  std::string path;
  for (const auto& [px, py] : line.points) {
    path += fmt::format("{:.1f},{:.1f} ", x.at(px), y.at(py));
    if (line.points_only)
      out +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                      x.at(px), y.at(py), ink);
    else if (!line.limit)
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", x.at(px), y.at(py), ink);
  }
  if (!line.points_only)
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path, ink,
                       line.limit ? " stroke-dasharray=\"6 4\"" : "");
  return out;
}

}  // namespace

std::string escaped(const std::string& raw) {
  std::string out;
  for (const char c : raw) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string line_chart(const chart_axes& axes, const std::vector<chart_line>& lines) {
  scale x(axes.log_x, left, width - right);
  scale y(axes.log_y, height - bottom, top);
  for (const auto& l : lines)
    for (const auto& [px, py] : l.points) {
      x.include(px);
      y.include(py);
    }
  if (axes.log_x)
    x.finish_exact();
  else
    x.finish();
  y.finish();
  std::string out = open(height) + frame(axes, x, y);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += drawn(lines[i], colour(i), x, y);
    const double at = top + 12 + static_cast<double>(i) * 18;
    out += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"3\"{4}/>\n",
                       width - right + 10, width - right + 28, at - 4, colour(i),
                       lines[i].limit ? " stroke-dasharray=\"4 3\"" : "");
    out += text(width - right + 33, at, "start", lines[i].name);
  }
  return out + "</svg>\n";
}

std::string stacked_chart(const std::string& title, const std::string& unit, const std::vector<std::string>& parts,
                          const std::vector<stacked_bar>& bars) {
  constexpr double row = 24;
  constexpr double names = 190;
  double most = 0;
  for (const auto& b : bars) {
    double sum = 0;
    for (const double p : b.parts) sum += p;
    most = std::max(most, sum);
  }
  const double h = top + row * static_cast<double>(bars.size()) + 64;
  std::string out = open(h) + text(12, 20, "start", title, " font-weight=\"bold\"");
  const double per_unit = most > 0 ? (width - names - 90) / most : 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = top + row * static_cast<double>(i);
    out += text(names - 8, y + 14, "end", bars[i].name);
    double x = names;
    double sum = 0;
    for (std::size_t p = 0; p < bars[i].parts.size(); ++p) {
      const double w = bars[i].parts[p] * per_unit;
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" fill=\"{}\"><title>{}: {:.0f} {}</title>"
          "</rect>\n",
          x, y, w, colour(p), escaped(parts[p]), bars[i].parts[p], escaped(unit));
      x += w;
      sum += bars[i].parts[p];
    }
    out += text(x + 5, y + 14, "start", fmt::format("{:.0f} {}", sum, unit));
  }
  double x = 12;
  double y = h - 36;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const double w = 26 + 7 * static_cast<double>(parts[p].size());
    if (x + w > width) {
      x = 12;
      y += 18;
    }
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x, y, colour(p));
    out += text(x + 16, y + 10, "start", parts[p]);
    x += w;
  }
  return out + "</svg>\n";
}

}  // namespace cmdq::cli

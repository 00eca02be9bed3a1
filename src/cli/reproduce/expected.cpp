// SPDX-License-Identifier: BSL-1.0
#include "reproduce/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "output/input_file.hpp"

namespace cmdq::cli {

nlohmann::json read_expected(const std::string& file) {
  const std::string text = read_input(file);
  nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object()) throw input_error(fmt::format("--expect {}: not a result of reproduce all", file));
  return j;
}

void check_expected(const reproduction& r, const std::string& section, const nlohmann::json& expected) {
  const auto found = expected.find(section);
  if (found == expected.end() || !found->is_object() || !found->contains("rows"))
    throw check_error("the expected result has no such section");
  const bool measured = std::any_of(r.figures.begin(), r.figures.end(), [](const figure& f) { return f.measured; });
  for (const auto& row : (*found)["rows"]) {
    const std::string name = row.value("figure", "");
    const auto ours = std::find_if(r.figures.begin(), r.figures.end(), [&](const figure& f) { return f.name == name; });
    if (ours == r.figures.end()) throw check_error(fmt::format("\"{}\" is not there", name));
    const double was = row.value("ours", 0.0);
    if (!ours->measured && std::abs(ours->ours - was) > 0.01 * std::abs(was) + 1e-9)
      throw check_error(fmt::format("\"{}\" is {:.6g}, expected {:.6g}", name, ours->ours, was));
  }
  if (!measured && (*found).value("beat_nulls", 0U) != r.beat_nulls())
    throw check_error(fmt::format("{} figures are better than the null models, expected {}", r.beat_nulls(),
                                  (*found).value("beat_nulls", 0U)));
}

}  // namespace cmdq::cli

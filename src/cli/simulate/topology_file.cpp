// SPDX-License-Identifier: BSL-1.0
#include "simulate/topology_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "errors.hpp"
#include "output/input_file.hpp"

namespace cmdq::cli {

namespace {

constexpr unsigned most_nested = 16;

[[noreturn]] void refuse(const std::string& file, std::string_view text, std::size_t at, const std::string& why) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  throw input_error(fmt::format("{}:{}:{}: {}", file, line, column, why));
}

/// Before it is parsed: a parser that calls itself for each level would run out of stack.
void check_nesting(const std::string& file, std::string_view text) {
  unsigned depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '{' || c == '[') && ++depth > most_nested)
      refuse(file, text, i, fmt::format("nested deeper than the limit of {}", most_nested));
    else if (!quoted && (c == '}' || c == ']') && depth != 0)
      --depth;
  }
}

/// Only looks: whether it is JSON, and where it is not.
class looker : public nlohmann::json_sax<nlohmann::json> {
 public:
  looker(const std::string& file, std::string_view text) : file_(file), text_(text) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& e) override {
    const std::size_t at = position - std::min(position, token.size());
    const std::string_view what = e.what();
    const bool too_large = what.find("number overflow") != std::string_view::npos;
    refuse(
        file_, text_, at,
        too_large ? fmt::format("number {}: larger than the limit 1.8e308", token) : fmt::format("not JSON: {}", what));
  }

 private:
  const std::string& file_;
  std::string_view text_;
};

bool shipped(const std::string& name) {
  const auto names = manycore::shipped_topologies();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Simulated time must pass, or a run never ends.
void check_times(const std::string& file, const manycore::topology& t) {
  if (t.distance.l1 == 0)
    throw input_error(fmt::format("{}: field \"distance_ns.l1\" is 0, must be above 0: every access takes time", file));
}

}  // namespace

manycore::topology read_topology(const std::string& name_or_file) {
  if (shipped(name_or_file)) return manycore::load_topology(name_or_file);
  std::string text;
  try {
    text = read_input(name_or_file);
  } catch (const input_error& e) {
    throw input_error(fmt::format("{}: neither a readable file nor a shipped topology (shipped: {}); {}", name_or_file,
                                  fmt::join(manycore::shipped_topologies(), ", "), e.what()));
  }
  check_nesting(name_or_file, text);
  looker look(name_or_file, text);
  nlohmann::json::sax_parse(text, &look);
  const manycore::topology t = manycore::parse_topology(text, name_or_file);
  check_times(name_or_file, t);
  return t;
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
#include "history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

namespace cmdq::checks {

namespace {

struct history_line {
  std::string step;
  std::string text;
  bool operator==(const history_line& other) const { return text == other.text; }
};

std::ptrdiff_t at(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

/// "<0x55...>" becomes "w3": the third word that the history mentions.
std::string number_words(const std::string& text, std::map<std::string, std::size_t>& words) {
  static const std::regex address("<?(0x[0-9a-f]+)>?");
  std::string out;
  std::size_t end = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), address), last; it != last; ++it) {
    const auto [at, fresh] = words.try_emplace((*it)[1].str(), words.size() + 1);
    out += text.substr(end, static_cast<std::size_t>(it->position()) - end) + fmt::format("w{}", at->second);
    end = static_cast<std::size_t>(it->position() + it->length());
  }
  return out + text.substr(end);
}

/// Polling repeats itself: the longest repetitions of up to eight lines are told once, with their number.
std::vector<std::string> fold_repetitions(const std::vector<history_line>& lines) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t period = 0;
    std::size_t times = 1;
    for (std::size_t p = 1; p <= 8; ++p) {
      std::size_t n = 1;
      while (i + (n + 1) * p <= lines.size() &&
             std::equal(lines.begin() + at(i), lines.begin() + at(i + p), lines.begin() + at(i + n * p))) {
        ++n;
      }
      if (n > 2 && n * p > times * period) {
        period = p;
        times = n;
      }
    }
    const std::size_t told = period == 0 ? 1 : period;
    for (std::size_t k = 0; k < told; ++k) out.push_back(lines[i + k].step + lines[i + k].text);
    if (period != 0) out.push_back(fmt::format("       ... these {} lines {} times\n", period, times));
    i += told * times;
  }
  return out;
}

}  // namespace

std::string readable_history(const std::string& relacy_text) {
  static const std::regex line_form(R"(^\[(\d+)\] (-?\d+): (.*), in ([^,]*),.*$)");
  std::vector<history_line> lines;
  std::map<std::string, std::size_t> words;
  std::istringstream in(relacy_text);
  bool constructing = true;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("thread ", 0) == 0) break;
    std::smatch m;
    if (!std::regex_match(line, m, line_form)) continue;
    if (m[3] == "[BEFORE END]") {
      constructing = false;
    } else if (!constructing) {
      const bool internal = m[4] == "fiber_proc_impl" || m[4] == "yield" || m[4] == "sched";
      lines.push_back(
          {fmt::format("{:>5}", m[1].str()), fmt::format("  {:<6}  {:<18}  {}\n", m[2].str(),
                                                         internal ? "" : m[4].str(), number_words(m[3].str(), words))});
    }
  }
  std::string out = fmt::format("{:>5}  {:<6}  {:<18}  {}\n", "step", "thread", "site", "operation");
  for (const std::string& line : fold_repetitions(lines)) out += line;
  return out;
}

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
#include "history.hpp"

#include <fmt/format.h>

#include <map>
#include <regex>
#include <sstream>

namespace cmdq::checks {

namespace {

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

}  // namespace

std::string readable_history(const std::string& relacy_text) {
  static const std::regex line_form(R"(^\[(\d+)\] (-?\d+): (.*), in ([^,]*),.*$)");
  std::string out = fmt::format("{:>5}  {:<6}  {:<18}  {}\n", "step", "thread", "site", "operation");
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
      out += fmt::format("{:>5}  {:<6}  {:<18}  {}\n", m[1].str(), m[2].str(), internal ? "" : m[4].str(),
                         number_words(m[3].str(), words));
    }
  }
  return out;
}

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
#include "codec/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmdq/amdvi/commands.hpp>
#include <cmdq/riscv/commands.hpp>
#include <cmdq/vtd/commands.hpp>
#include <nlohmann/json.hpp>

#include "codec/fields_text.hpp"
#include "errors.hpp"

namespace cmdq::cli {
namespace {

/// Calls f(the table of the family, is a command legal).
template <class F>
void with_table(const std::string& family, const F& f) {
  if (family == "vtd") return f(vtd::layouts, vtd::legal);
  if (family == "amdvi") return f(amdvi::layouts, amdvi::legal);
  f(riscv::layouts, riscv::legal);
}

void print(const described& d, const command& c, bool legal, results& out) {
  std::string text = d.layout->name;
  auto fields = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < d.layout->count(); ++i) {
    const field_layout& f = d.layout->fields[i];
    text += fmt::format("{}{}={:#x}", i == 0 ? ' ' : ';', f.name, d.values[i]);
    fields[f.name] = d.values[i];
  }
  const std::string words[] = {fmt::format("{:#018x}", c.word[0]), fmt::format("{:#018x}", c.word[1])};
  out.say(fmt::format("{}\nwords {} {}\n{}", text, words[0], words[1], legal ? "" : "refused by the device\n"));
  out.add([&](auto& j) {
    j["command"] = d.layout->name;
    j["words"] = words;
    j["fields"] = fields;
    j["legal"] = legal;
  });
}

const command_layout& named(const command_layout* first, const command_layout* last, std::string wanted) {
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](unsigned char x) { return std::tolower(x); });
  const auto* const found = std::find_if(first, last, [&](const command_layout& l) { return wanted == l.name; });
  if (found == last) throw input_error(fmt::format("'{}' is no command of this family; --list names them all", wanted));
  return *found;
}

void assign(described& d, const std::vector<std::string>& assignments) {
  std::vector<std::size_t> seen;
  for (const std::string& a : assignments) {
    const std::size_t equals = a.find('=');
    if (equals == std::string::npos) throw input_error(fmt::format("'{}': expected field=value", a));
    const std::string key = a.substr(0, equals);
    const std::size_t i = d.layout->find(key.c_str());
    if (i == d.layout->count()) throw input_error(fmt::format("{} has no field '{}'", d.layout->name, key));
    if (std::find(seen.begin(), seen.end(), i) != seen.end()) throw input_error(fmt::format("{}: given twice", key));
    seen.push_back(i);
    d.values[i] = parse_number(a.substr(equals + 1), key);
  }
}

}  // namespace

void decode_by_table(const std::string& family, const command& c, results& out) {
  with_table(family, [&](const auto& table, const auto& legal) {
    const auto d = decode_described<2>(table, c);
    if (!d) throw input_error(explain(d.why()));
    print(*d, c, legal(c), out);
  });
}

void encode_by_table(const std::string& family, const std::string& name, const std::vector<std::string>& fields,
                     results& out) {
  with_table(family, [&](const auto& table, const auto& legal) {
    described d{.layout = &named(std::begin(table), std::end(table), name)};
    assign(d, fields);
    const auto c = encode_described<2>(d);
    if (!c) throw input_error(fmt::format("{}: {}", d.layout->name, explain(c.why())));
    print(d, *c, legal(*c), out);
  });
}

void list_table(const std::string& family, results& out) {
  with_table(family, [&](const auto& table, const auto&) {
    for (const command_layout& l : table) {
      std::string fields;
      for (std::size_t i = 0; i < l.count(); ++i) fields += fmt::format(" {}", l.fields[i].name);
      out.say(fmt::format("{:<28}{}\n", l.name, fields));
      out.add([&](auto& j) { j["commands"].push_back({{"command", l.name}}); });
    }
  });
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "codec/encode.hpp"
#include "codec/families.hpp"
#include "codec/fields_text.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "output/results.hpp"

namespace cmdq::cli {
namespace {

using smmuv3::any_command;
using smmuv3::field;
using smmuv3::layout;

struct encode_options {
  std::string name;
  std::vector<std::string> fields;
  bool list = false;
  std::string json;
  std::string family = "smmuv3";
};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string field_names(const layout& l) {
  std::string out;
  for (size_t i = 0; i < l.count; ++i) out += fmt::format("{}{}", i == 0 ? "" : " ", name(l.fields[i].id));
  return l.count == 0 ? "no fields" : out;
}

/// A name as listed, in any case, with or without the CMD_ of the specification.
const layout& layout_named(const std::string& given) {
  const std::string wanted = upper(given);
  for (const layout& l : smmuv3::layouts) {
    if (wanted == l.name || wanted == fmt::format("CMD_{}", l.name) || fmt::format("CMD_{}", wanted) == l.name)
      return l;
  }
  throw input_error(fmt::format("'{}' is no command; `cmdq encode --list` names them all", given));
}

std::optional<field> field_named(const layout& l, const std::string& given) {
  for (size_t i = 0; i < l.count; ++i) {
    if (upper(given) == upper(name(l.fields[i].id))) return l.fields[i].id;
  }
  return std::nullopt;
}

any_command parse(const layout& l, const std::vector<std::string>& assignments) {
  any_command c;
  c.op = l.op;
  std::vector<field> seen;
  for (const std::string& a : assignments) {
    const size_t equals = a.find('=');
    if (equals == std::string::npos) throw input_error(fmt::format("'{}': expected field=value", a));
    const std::string key = a.substr(0, equals);
    const auto f = field_named(l, key);
    if (!f) throw input_error(fmt::format("{} has no field '{}'; it has: {}", l.name, key, field_names(l)));
    if (std::find(seen.begin(), seen.end(), *f) != seen.end()) throw input_error(fmt::format("{}: given twice", key));
    seen.push_back(*f);
    c.set(*f, parse_number(a.substr(equals + 1), key));
  }
  return c;
}

void list(results& out) {
  for (const layout& l : smmuv3::layouts) {
    out.say(fmt::format("{:<16} {:#04x}  {}\n", l.name, static_cast<unsigned>(l.op), field_names(l)));
    out.add([&](auto& j) {
      auto limits = nlohmann::ordered_json::object();
      for (size_t i = 0; i < l.count; ++i) limits[name(l.fields[i].id)] = l.fields[i].max();
      j["commands"].push_back({{"command", l.name}, {"opcode", static_cast<unsigned>(l.op)}, {"limits", limits}});
    });
  }
}

void run(const encode_options& o) {
  if (o.list) {
    results out(o.json);
    if (o.family == "smmuv3")
      list(out);
    else
      list_table(o.family, out);
    return out.finish();
  }
  if (o.name.empty()) throw input_error("encode: a command's NAME is missing; `cmdq encode --list` names them all");
  if (o.family != "smmuv3") {
    results out(o.json);
    encode_by_table(o.family, o.name, o.fields, out);
    return out.finish();
  }
  const command c = command_from(o.name, o.fields);
  results out(o.json);
  out.say(to_table(c));
  out.add([&](auto& j) { j.update(to_json(c)); });
  out.finish();
}

}  // namespace

command command_from(const std::string& name, const std::vector<std::string>& fields) {
  const bool all = upper(name) == "CFGI_ALL";
  if (all && !fields.empty()) throw input_error("CFGI_ALL has no fields: it is CFGI_STE_RANGE with range=31");
  const layout& l = layout_named(all ? "CFGI_STE_RANGE" : name);
  const auto c = smmuv3::encode(parse(l, all ? std::vector<std::string>{"range=31"} : fields));
  if (!c) throw input_error(fmt::format("{}: {}", l.name, explain(c.why())));
  return *c;
}

void add_encode(arguments& program) {
  arguments encode = program.add("encode", "The two words of a command, from its name and fields");
  auto o = std::make_shared<encode_options>();
  encode.text("NAME", o->name, "the command, for example TLBI_NH_VA");
  encode.texts("FIELDS", o->fields, "field=value, decimal or 0x hexadecimal; 0 where not given", false);
  encode.flag("--list", o->list, "list the commands and their fields");
  encode.choice("--family", o->family, {"smmuv3", "vtd", "amdvi", "riscv"}, "whose command it is");
  encode.json(o->json);
  encode.runs([o] { run(*o); });
}

}  // namespace cmdq::cli

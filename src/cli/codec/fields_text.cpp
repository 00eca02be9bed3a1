// SPDX-License-Identifier: BSL-1.0
#include "codec/fields_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "errors.hpp"

namespace cmdq::cli {
namespace {

using smmuv3::any_command;
using smmuv3::field;
using smmuv3::field_bits;
using smmuv3::field_kind;
using smmuv3::layout;

std::string value_text(const field_bits& f, uint64_t value) {
  return f.kind == field_kind::number ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

bool shown(const field_bits& f, uint64_t value) {
  const bool optional = f.id == field::ssv || f.id == field::ssid || f.id == field::global;
  return value != 0 || !optional;
}

any_command decoded(const command& c) {
  const auto any = smmuv3::decode(c);
  if (!any) throw input_error(explain(any.why()));
  return *any;
}

std::string join(const layout& l, const any_command& any) {
  std::string out;
  for (size_t i = 0; i < l.count; ++i) {
    const field_bits& f = l.fields[i];
    const uint64_t value = any.get(f.id);
    if (!shown(f, value)) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : ";", name(f.id), value_text(f, value));
  }
  return out;
}

/// What a value stands for, where the number alone does not tell; empty otherwise.
std::string meaning(const any_command& c, field f) {
  constexpr const char* signals[] = {"no signal", "interrupt or MSI", "event"};
  constexpr const char* page_responses[] = {"deny", "fail", "success"};
  constexpr const char* stall_responses[] = {"terminate", "retry", "abort"};
  constexpr const char* granules[] = {"no range", "4 KiB granule", "16 KiB granule", "64 KiB granule"};
  const uint64_t v = c.get(f);
  if (f == field::cs) return signals[v];
  if (f == field::tg) return granules[v];
  if (f == field::resp) return c.op == smmuv3::opcode::resume ? stall_responses[v] : page_responses[v];
  if (f == field::ttl) return v == 0 ? "no level hint" : fmt::format("level {}", v);
  if (f == field::range && v == 31) return "all stream ids (CFGI_ALL)";
  if (f == field::range) return fmt::format("{} stream ids", uint64_t{2} << v);
  if (f == field::scale && c.get(field::tg) != 0) return fmt::format("{} granules", (c.get(field::num) + 1) << v);
  if (f == field::size && c.op == smmuv3::opcode::atc_inv) {
    return v == 52 ? "everything" : fmt::format("{} pages of 4 KiB", uint64_t{1} << v);
  }
  return "";
}

}  // namespace

std::string_view command_name(const command& c) {
  const layout* l = smmuv3::find_layout(opcode_of(c.word[0]));
  return l != nullptr ? l->name : "unknown";
}

std::string fields_text(const command& c) {
  const any_command any = decoded(c);
  return join(*smmuv3::find_layout(opcode_of(c.word[0])), any);
}

std::string explain(const refusal& why) {
  const std::string_view what = why.field;
  if (what == "opcode") return fmt::format("opcode {:#04x} is no command", why.value);
  if (what.starts_with("reserved")) return fmt::format("{}: {:#x} must be 0", what, why.value);
  if (what.starts_with("num,")) return fmt::format("{}: neither a range nor a level hint", what);
  switch (why.code) {
    case status::out_of_range:
      return fmt::format("{}: {} ({:#x}) is above its limit {} ({:#x})", what, why.value, why.value, why.limit,
                         why.limit);
    case status::misaligned:
      return fmt::format("{}: {:#x} is not a multiple of {:#x}", what, why.value, why.limit);
    default:
      return fmt::format("{}: {} ({:#x}) is refused: {}", what, why.value, why.value, name(why.code));
  }
}

uint64_t parse_number(std::string_view text, std::string_view what) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range) {
    throw input_error(fmt::format("{}: '{}' does not fit 64 bits (limit 0xffffffffffffffff)", what, text));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw input_error(fmt::format("{}: '{}' is not a decimal or 0x hexadecimal number", what, text));
  }
  return value;
}

nlohmann::ordered_json to_json(const command& c) {
  const any_command any = decoded(c);
  const layout& l = *smmuv3::find_layout(opcode_of(c.word[0]));
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();
  for (size_t i = 0; i < l.count; ++i) fields[name(l.fields[i].id)] = any.get(l.fields[i].id);
  return {{"command", l.name},
          {"opcode", static_cast<unsigned>(l.op)},
          {"words", {fmt::format("{:#018x}", c.word[0]), fmt::format("{:#018x}", c.word[1])}},
          {"fields", fields},
          {"legal", smmuv3::legal(c)}};
}

std::string to_table(const command& c) {
  const any_command any = decoded(c);
  const layout& l = *smmuv3::find_layout(opcode_of(c.word[0]));
  const std::string fields = join(l, any);
  std::string out = fmt::format("{}{}{}\n", l.name, fields.empty() ? "" : " ", fields);
  out += fmt::format("words {:#018x} {:#018x}\n", c.word[0], c.word[1]);
  for (size_t i = 0; i < l.count; ++i) {
    const field_bits& f = l.fields[i];
    const std::string bits = f.msb == f.lsb ? fmt::format("{}", f.msb) : fmt::format("{}:{}", f.msb, f.lsb);
    const std::string note = meaning(any, f.id);
    out += fmt::format("  {:<8} word {} bits {:<6} {}{}{}\n", name(f.id), f.word, bits, value_text(f, any.get(f.id)),
                       note.empty() ? "" : "  ", note);
  }
  if (!smmuv3::legal(c)) out += "illegal on the Non-secure queue: the device answers CERROR_ILL\n";
  return out;
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "codec/families.hpp"
#include "codec/fields_text.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "output/results.hpp"

namespace cmdq::cli {
namespace {

struct decode_options {
  std::string word0;
  std::string word1;
  std::string json;
  std::string family = "smmuv3";
};

void run(const decode_options& o) {
  const command c{{parse_number(o.word0, "WORD0"), parse_number(o.word1, "WORD1")}};
  if (o.family != "smmuv3") {
    results out(o.json);
    decode_by_table(o.family, c, out);
    return out.finish();
  }
  const auto any = smmuv3::decode(c);
  if (!any) {
    const std::string_view name = command_name(c);
    throw input_error(name == "unknown" ? explain(any.why()) : fmt::format("{}: {}", name, explain(any.why())));
  }
  results out(o.json);
  out.say(to_table(c));
  out.add([&](auto& j) { j.update(to_json(c)); });
  out.finish();
}

}  // namespace

void add_decode(arguments& program) {
  arguments decode = program.add("decode", "The fields of a command, from its two little-endian 64-bit words");
  auto o = std::make_shared<decode_options>();
  decode.text("WORD0", o->word0, "bits 63:0, decimal or 0x hexadecimal", true);
  decode.text("WORD1", o->word1, "bits 127:64", true);
  decode.choice("--family", o->family, {"smmuv3", "vtd", "amdvi", "riscv"}, "whose command it is");
  decode.json(o->json);
  decode.runs([o] { run(*o); });
}

}  // namespace cmdq::cli

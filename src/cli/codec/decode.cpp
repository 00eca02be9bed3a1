// SPDX-License-Identifier: BSL-1.0
#include <fmt/core.h>

#include <memory>
#include <string>

#include "codec/fields_text.hpp"
#include "commands.hpp"

namespace cmdq::cli {
namespace {

struct decode_options {
  std::string word0;
  std::string word1;
  bool json = false;
};

void run(const decode_options& o) {
  const command c{{parse_number(o.word0, "WORD0"), parse_number(o.word1, "WORD1")}};
  const auto any = smmuv3::decode(c);
  if (!any) {
    const std::string_view name = command_name(c);
    throw input_error(name == "unknown" ? explain(any.why()) : fmt::format("{}: {}", name, explain(any.why())));
  }
  if (o.json) {
    fmt::print("{}\n", to_json(c).dump(2));
  } else {
    fmt::print("{}", to_table(c));
  }
}

}  // namespace

void add_decode(CLI::App& app) {
  auto* sub = app.add_subcommand("decode", "The fields of a command, from its two little-endian 64-bit words");
  auto o = std::make_shared<decode_options>();
  sub->add_option("WORD0", o->word0, "bits 63:0, decimal or 0x hexadecimal")->required();
  sub->add_option("WORD1", o->word1, "bits 127:64")->required();
  sub->add_flag("--json", o->json, "print JSON");
  sub->callback([o] { run(*o); });
}

}  // namespace cmdq::cli

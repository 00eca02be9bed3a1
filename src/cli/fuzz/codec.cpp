// SPDX-License-Identifier: BSL-1.0
// decode and encode: sixteen bytes as a command's words, the rest as a name with fields.
#include <cmdq/smmuv3/codec.hpp>

#include <cstring>
#include <sstream>
#include <vector>

#include "codec/encode.hpp"
#include "codec/fields_text.hpp"
#include "errors.hpp"
#include "fuzz/target.hpp"

namespace {

using namespace cmdq;

/// `NAME a=1;b=2`: what decode prints and encode takes.
std::vector<std::string> words(const std::string& text, char between) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, between);) out.push_back(word);
  return out;
}

void decoding(const std::uint8_t* data) {
  command c;
  std::memcpy(c.word, data, sizeof c.word);
  const auto any = smmuv3::decode(c);
  if (!any) return;
  cli::must(!cli::to_table(c).empty(), "a table");
  const auto again = smmuv3::encode(*any);
  cli::must(again.ok() && *again == c, "decoded and encoded again");
  const std::string fields = cli::fields_text(c);
  cli::must(cli::command_from(std::string(cli::command_name(c)), words(fields, ';')) == c, "its text encodes to it");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= sizeof(command::word)) decoding(data);
  std::vector<std::string> given = words(cli::text_of(data, size), ' ');
  if (given.empty()) return 0;
  try {
    const std::string name = given.front();
    given.erase(given.begin());
    cli::must(smmuv3::decode(cli::command_from(name, given)).ok(), "what was encoded can be decoded");
  } catch (const cli::input_error&) {
  }
  return 0;
}

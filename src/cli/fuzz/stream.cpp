// SPDX-License-Identifier: BSL-1.0
// Recorded streams: what is read is whole.
#include "replay/stream.hpp"
#include "errors.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cmdq::cli;
  try {
    const stream s = parse_stream(text_of(data, size), "input");
    std::size_t commands = 0;
    for (const list& l : s.lists) {
      must(l.begin == commands && (l.n != 0 || l.sync), "lists follow each other");
      commands += l.n;
    }
    must(commands == s.commands.size() && !s.lists.empty(), "each command is in one list");
    must(s.longest() <= 1024 && s.recorded.prod_writes >= 1, "the longest list, PROD writes");
  } catch (const input_error&) {
  }
  return 0;
}

// SPDX-License-Identifier: BSL-1.0
// The command line, one argument per line; nothing is run.
#include <vector>

#include "commands.hpp"
#include "errors.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cmdq::cli;
  std::vector<std::string> given{"cmdq"};
  for (std::size_t i = 0; i < size; ++i) {
    if (i == 0 || data[i - 1] == '\n') given.emplace_back();
    if (data[i] != '\n' && data[i] != 0) given.back() += static_cast<char>(data[i]);
  }
  std::vector<char*> argv;
  for (std::string& g : given) argv.push_back(g.data());
  argv.push_back(nullptr);
  const int code = run_program(
      "cmdq", "fuzz",
      [](arguments& program) {
        add_encode(program);
        add_decode(program);
        add_replay(program);
        add_simulate(program);
        add_reproduce(program);
      },
      static_cast<int>(given.size()), argv.data(), afterwards::nothing);
  must(code == done || code == bad_input, "the command line is taken or refused");
  return 0;
}

// SPDX-License-Identifier: BSL-1.0
// `cmdq replay` alone, for the sanitizer builds: they need not compile the rest of the program.
#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace cmdq::cli;
  return run_program("cmdq", "cmdq replay", add_replay, argc, argv);
}

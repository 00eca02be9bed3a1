// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace cmdq::cli;
  return run_program(
      "cmdq", "cmdq: a command queue for hundreds of producers and one device",
      [](arguments& program) {
        add_encode(program);
        add_decode(program);
        add_replay(program);
        add_simulate(program);
        add_reproduce(program);
      },
      argc, argv);
}

// SPDX-License-Identifier: BSL-1.0
// `cmdq replay` alone, for the sanitizer builds: they need not compile the rest of the program.
#include <fmt/core.h>

#include <exception>

#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace cmdq::cli;
  CLI::App app{"cmdq replay"};
  app.require_subcommand(1);
  add_replay(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? done : bad_input;
  } catch (const std::exception& e) {
    fmt::print(stderr, "cmdq: {}\n", e.what());
    return check_failed;
  }
  return done;
}

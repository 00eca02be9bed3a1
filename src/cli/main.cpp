// SPDX-License-Identifier: BSL-1.0
#include <fmt/core.h>

#include <exception>

#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace cmdq::cli;
  CLI::App app{"cmdq: a command queue for hundreds of producers and one device"};
  app.set_version_flag("--version", "cmdq " CMDQ_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  add_encode(app);
  add_decode(app);
  add_replay(app);
  add_simulate(app);
  add_reproduce(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? done : bad_input;
  } catch (const input_error& e) {
    fmt::print(stderr, "cmdq: {}\n", e.what());
    return bad_input;
  } catch (const check_error& e) {
    fmt::print(stderr, "cmdq: {}\n", e.what());
    return check_failed;
  } catch (const std::exception& e) {
    fmt::print(stderr, "cmdq: {}\n", e.what());
    return bad_input;
  }
  return done;
}

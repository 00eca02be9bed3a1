// SPDX-License-Identifier: BSL-1.0
// The command line. Only arguments.cpp knows the library that parses it; every number has its limits here, and what is
// not within them is refused with option, value and limits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cmdq::cli {

/// A command or group of commands that is being described. Options write into the variables given, whose values at that
/// time are the defaults that --help shows; the variables must outlive the parsing. A list is one value with commas.
class arguments {
 public:
  explicit arguments(CLI::App& app) : app_(&app) {}

  /// A command of this group.
  arguments add(const std::string& name, const std::string& what);
  /// What runs it, after all options are read.
  void runs(std::function<void()> what);
  /// Text below the options in --help.
  void explain(const std::string& text);

  /// `name`: "--option", or a word for a positional argument.
  void text(const std::string& name, std::string& value, const std::string& help, bool required = false);
  void texts(const std::string& name, std::vector<std::string>& values, const std::string& help, bool required);
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& of, const std::string& help);
  void choices(const std::string& name, std::vector<std::string>& values, const std::vector<std::string>& of,
               const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  void number(const std::string& name, std::uint32_t& value, std::uint32_t least, std::uint32_t most,
              const std::string& help);
  void number(const std::string& name, std::uint64_t& value, std::uint64_t least, std::uint64_t most,
              const std::string& help);
  void number(const std::string& name, int& value, int least, int most, const std::string& help);
  /// Not a number and infinity are in no limits.
  void number(const std::string& name, double& value, double least, double most, const std::string& help);
  void numbers(const std::string& name, std::vector<std::uint32_t>& values, std::uint32_t least, std::uint32_t most,
               const std::string& help);
  /// --json FILE, the same in every command.
  void json(std::string& file);

 private:
  CLI::Option* add(const std::string& name, const std::string& help, const std::string& shown,
                   std::function<void(const std::string&)> set);
  CLI::App* app_;
};

/// Largest time of one step of a device: ten seconds, in nanoseconds.
inline constexpr std::uint64_t most_step_ns = 10'000'000'000;

/// Builds the program with `add`, parses, and runs what was asked for. Returns the exit code; every error is told on
/// standard error, one that concerns the usage with the way to the help behind it.
int run_program(const std::string& name, const std::string& what, const std::function<void(arguments&)>& add, int argc,
                char** argv);

}  // namespace cmdq::cli

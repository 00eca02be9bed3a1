// SPDX-License-Identifier: BSL-1.0
#include "arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <iostream>

#include "errors.hpp"
#include "output/interrupt.hpp"
#include "output/terminal.hpp"

namespace cmdq::cli {

namespace {

template <class T>
T parsed(const std::string& name, const std::string& text, T least, T most) {
  T v{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, v);
  if (error != std::errc{} || stop != end || !(v >= least && v <= most))
    throw input_error(fmt::format("{} {}: must be a number from {} to {}", name, printable(text), least, most));
  return v;
}

std::string list_of(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

const std::string& chosen(const std::string& name, const std::string& text, const std::vector<std::string>& of) {
  for (const std::string& o : of)
    if (o == text) return o;
  throw input_error(fmt::format("{} {}: must be one of {}", name, printable(text), list_of(of)));
}

/// Commas part the values; none is empty.
std::vector<std::string> parts(const std::string& name, const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t from = 0;;) {
    const std::size_t comma = text.find(',', from);
    out.push_back(text.substr(from, comma == std::string::npos ? comma : comma - from));
    if (out.back().empty()) throw input_error(fmt::format("{} {}: an empty value", name, printable(text)));
    if (comma == std::string::npos) return out;
    from = comma + 1;
  }
}

/// The deepest command named on the command line. A word that should name one and does not is refused.
const CLI::App& named(const CLI::App& program, int argc, char** argv, std::string& path) {
  const CLI::App* at = &program;
  for (int i = 1; i < argc && !at->get_subcommands({}).empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) continue;
    const CLI::App* next = nullptr;
    std::vector<std::string> known;
    for (const CLI::App* s : at->get_subcommands({})) {
      known.push_back(s->get_name());
      if (s->get_name() == word) next = s;
    }
    if (next == nullptr)
      throw input_error(fmt::format("'{}' is no command of `{}`; commands: {}", printable(word), path, list_of(known)));
    path += " " + word;
    at = next;
  }
  return *at;
}

int complain(std::string_view what) {
  complain_line(fmt::format("cmdq: {}", what));
  return bad_input;
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
  std::string path = app.get_name();
  try {
    static_cast<void>(named(app, argc, argv, path));
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);  // --help, --version
    if (!std::cout.flush()) throw input_error("standard output: cannot be written");
  } catch (const CLI::ParseError& e) {
    return complain(fmt::format("{} (`{} --help` says more)", e.what(), path));
  }
  finish_standard_output();
  return done;
}

}  // namespace

arguments arguments::add(const std::string& name, const std::string& what) {
  app_->require_subcommand(1);
  return arguments(*app_->add_subcommand(name, what));
}

void arguments::runs(std::function<void()> what) { app_->callback(std::move(what)); }
void arguments::explain(const std::string& text) { app_->footer(text); }

CLI::Option* arguments::add(const std::string& name, const std::string& help, const std::string& shown,
                            std::function<void(const std::string&)> set) {
  const auto all = [set = std::move(set)](const CLI::results_t& given) {
    for (const std::string& text : given) set(text);
    return true;
  };
  return app_->add_option(name, all, help, !shown.empty(), [shown] { return shown; })->type_name("");
}

void arguments::text(const std::string& name, std::string& value, const std::string& help, bool required) {
  add(name, help, value, [&value](const std::string& t) { value = t; })->required(required);
}

void arguments::texts(const std::string& name, std::vector<std::string>& values, const std::string& help,
                      bool required) {
  add(name, help, "", [&values](const std::string& t) { values.push_back(t); })
      ->expected(1, -1)
      ->allow_extra_args()
      ->required(required);
}

void arguments::choice(const std::string& name, std::string& value, const std::vector<std::string>& of,
                       const std::string& help) {
  add(name, fmt::format("{}: {}", help, list_of(of)), value,
      [&value, name, of](const std::string& t) { value = chosen(name, t, of); });
}

void arguments::choices(const std::string& name, std::vector<std::string>& values, const std::vector<std::string>& of,
                        const std::string& help) {
  add(name, fmt::format("{}; a list of {}", help, list_of(of)), fmt::format("{}", fmt::join(values, ",")),
      [&values, name, of](const std::string& t) {
        values.clear();
        for (const std::string& p : parts(name, t)) values.push_back(chosen(name, p, of));
      });
}

void arguments::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

void arguments::number(const std::string& name, std::uint32_t& value, std::uint32_t least, std::uint32_t most,
                       const std::string& help) {
  add(name, fmt::format("{} ({} to {})", help, least, most), fmt::format("{}", value),
      [=, &value](const std::string& t) { value = parsed(name, t, least, most); });
}
void arguments::number(const std::string& name, std::uint64_t& value, std::uint64_t least, std::uint64_t most,
                       const std::string& help) {
  add(name, fmt::format("{} ({} to {})", help, least, most), fmt::format("{}", value),
      [=, &value](const std::string& t) { value = parsed(name, t, least, most); });
}
void arguments::number(const std::string& name, int& value, int least, int most, const std::string& help) {
  add(name, fmt::format("{} ({} to {})", help, least, most), fmt::format("{}", value),
      [=, &value](const std::string& t) { value = parsed(name, t, least, most); });
}
void arguments::number(const std::string& name, double& value, double least, double most, const std::string& help) {
  add(name, fmt::format("{} ({} to {})", help, least, most), value < least ? "" : fmt::format("{}", value),
      [=, &value](const std::string& t) { value = parsed(name, t, least, most); });
}
void arguments::numbers(const std::string& name, std::vector<std::uint32_t>& values, std::uint32_t least,
                        std::uint32_t most, const std::string& help) {
  add(name, fmt::format("{}; a list of numbers from {} to {}", help, least, most),
      fmt::format("{}", fmt::join(values, ",")), [=, &values](const std::string& t) {
        values.clear();
        for (const std::string& p : parts(name, t)) values.push_back(parsed(name, p, least, most));
      });
}

void arguments::json(std::string& file) {
  text("--json", file, "write the result to this file as JSON; -: to standard output, in place of the text");
}

int run_program(const std::string& name, const std::string& what, const std::function<void(arguments&)>& add, int argc,
                char** argv) {
  try {
    watch_interrupts();
    CLI::App app{what, name};
    app.set_version_flag("--version", "cmdq " CMDQ_VERSION);
    arguments program(app);
    add(program);
    return parse_and_run(app, argc, argv);
  } catch (const check_error& e) {
    complain(e.what());
    return check_failed;
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}

}  // namespace cmdq::cli

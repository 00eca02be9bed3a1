// SPDX-License-Identifier: BSL-1.0
// One exploration in this process: the child that the other commands start, and replay.
#include "commands.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

namespace cmdq::checks {

request default_request(const facts& about) {
  request r;
  r.how = about.how;
  r.bound = about.bound;
  r.first = first_iteration(0);
  r.iterations = about.how == schedule::random ? about.iterations : 0;
  return r;
}

std::vector<std::string> child_arguments(const facts& about, const request& how, const std::optional<mutant>& weaken) {
  std::vector<std::string> args = {about.name,
                                   "--schedule",
                                   name(how.how),
                                   "--bound",
                                   std::to_string(how.bound),
                                   "--first",
                                   std::to_string(how.first),
                                   "--iterations",
                                   std::to_string(how.iterations)};
  if (weaken) args.insert(args.end(), {"--weaken", to_string(*weaken)});
  return args;
}

std::string replay_command(const facts& about, const request& how, const std::optional<mutant>& weaken,
                           const answer& failed) {
  const std::string weakened = weaken ? fmt::format(" --weaken {}", to_string(*weaken)) : "";
  return fmt::format("cmdq-check replay {} --schedule {} --bound {}{} --state '{}'", about.name, name(how.how),
                     how.bound, weakened, failed.value("state", ""));
}

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}\n", text);
    return;
  }
  std::ofstream out(path);
  out << text << '\n';
  if (!out) throw std::invalid_argument(fmt::format("cannot write {}", path));
}

namespace {

report explore_here(const single_options& options) {
  const registered* what = find_scenario(options.scenario);
  if (what == nullptr) {
    throw std::invalid_argument(fmt::format("no scenario '{}'; see: cmdq-check list", options.scenario));
  }
  if (options.weaken) apply(*options.weaken);
  return explore(*what, options.how);
}

}  // namespace

int run_child(const single_options& options) {
  const report r = explore_here(options);
  answer a = {{"result", name(r.result)}, {"cut", r.cut},     {"executions", r.executions}, {"seconds", r.seconds},
              {"detail", r.detail},       {"state", r.state}, {"history", r.history}};
  answer sites = answer::object();
  for (std::size_t i = 0; i < site_count; ++i) {
    if (orders_in_force.uses[i] != 0) sites[ordering_table[i].name] = orders_in_force.uses[i];
  }
  a["sites"] = sites;
  fmt::print("{}\n", a.dump(-1, ' ', false, answer::error_handler_t::replace));
  return 0;
}

int replay(const single_options& options) {
  const report r = explore_here(options);
  if (r.result == ending::passed) {
    fmt::print("{}: nothing failed in {} executions\n", options.scenario, r.executions);
    return 1;
  }
  fmt::print("{}\n{}: {} at execution {} ({} schedule)\n", r.history, options.scenario, r.detail, r.executions,
             name(options.how.how));
  return 0;
}

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
// Producers in several processes that are killed at random, a device in another one, a queue in shared memory.
// Exit codes: 0 nothing was lost, repeated or hung; 1 something was; 2 bad usage, or the system refused.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include <sys/mman.h>

#include "supervisor.hpp"

namespace {

using namespace processes;

using runner = results (*)(const settings&, int);
template <class Allocation>
results run_with(const settings& s, int fd) {
  return supervisor<shared<Allocation>>(s, fd).run();
}

const std::map<std::string, runner> strategies = {
#define CMDQ_ONE(name, locked) {#name, run_with<cmdq::allocation::name>},
    CMDQ_FOR_EACH_STRATEGY(CMDQ_ONE)
#undef CMDQ_ONE
};

int run(const settings& s, const std::string& strategy, const std::string& json) {
  std::ofstream file;
  if (!json.empty()) {
    file.open(json);
    if (!file) throw std::runtime_error(json + " cannot be written");
  }
  const int fd = memfd_create("cmdq-processes", MFD_CLOEXEC);
  if (fd < 0) throw std::runtime_error("memfd_create");
  const results r = strategies.at(strategy)(s, fd);
  nlohmann::ordered_json out = {{"strategy", strategy},
                                {"workers", s.workers},
                                {"seconds", s.seconds},
                                {"kills", r.kills},
                                {"calls", r.calls},
                                {"hangs", r.hangs},
                                {"lost", r.lost},
                                {"repeated", r.repeated},
                                {"cells_back", r.cells_back},
                                {"cells_missing", r.cells_missing},
                                {"rebuilds", r.rebuilds}};
  for (unsigned code = 0; code < statuses; ++code)
    if (r.ended[code] != 0) out["calls_by_status"][name(static_cast<cmdq::status>(code))] = r.ended[code];
  std::cout << out.dump(2) << '\n';
  if (file.is_open() && !(file << out.dump(2) << '\n' << std::flush))
    throw std::runtime_error(json + " could not be written");
  return r.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Worker processes issue commands over shared memory and are killed at random; a device process consumes "
      "and checks that none is lost or repeated.\nExit codes: 0 all is well, 1 something was lost, repeated "
      "or hung, 2 bad usage or the system refused.");
  settings s;
  std::string strategy = "combining";
  std::string json;
  std::vector<std::string> names;
  for (const auto& [name, unused] : strategies) names.push_back(name);
  app.add_option("--workers", s.workers, "Worker processes")->check(CLI::Range(1U, max_workers))->capture_default_str();
  app.add_option("--kills", s.kills, "Workers to kill, each replaced by a new one")
      ->check(CLI::Range(0U, 50'000U))
      ->capture_default_str();
  app.add_option("--seconds", s.seconds, "Length of the run; longer where the kills take longer")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  app.add_option("--strategy", strategy, "Allocation strategy")->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--log2", s.log2_size, "Ring of 2^LOG2 entries")->check(CLI::Range(2U, 19U))->capture_default_str();
  app.add_option("--seed", s.seed, "Of the times and victims; the moments themselves are the system's")
      ->capture_default_str();
  app.add_option("--json", json, "Write the result there, too");
  try {
    app.parse(argc, argv);
    return run(s, strategy, json);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::cerr << "cmdq-processes: " << e.what() << '\n';
    return 2;
  }
}

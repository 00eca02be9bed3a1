// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "commit.hpp"

namespace bench {
namespace {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string kernel() {
  utsname u{};
  return uname(&u) == 0 ? std::string(u.sysname) + " " + u.release + " " + u.machine : "unknown";
}

std::string date() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  tm utc{};
  return std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc)) != 0 ? text : "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string load() {
  double average[1] = {};
  return getloadavg(average, 1) == 1 ? std::to_string(average[0]) : "unknown";
}

unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

std::vector<std::pair<std::string, std::string>> machine() {
  return {{"machine", processor()},    {"cores", std::to_string(cores())},
          {"kernel", kernel()},        {"compiler", compiler()},
          {"flags", CMDQ_BENCH_FLAGS}, {"commit", CMDQ_BENCH_COMMIT},
          {"load_before", load()},     {"started", date()}};
}

}  // namespace bench

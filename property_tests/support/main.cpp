// SPDX-License-Identifier: BSL-1.0
// Runs all tests of an executable, or those named on the command line. Exit codes: 0 passed, 1 a test failed, 2 usage.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "test.hpp"

namespace cmdq::test {
namespace {
entry*& head() noexcept {
  static entry* first = nullptr;
  return first;
}
const char* running = "";

std::vector<const entry*> all() {
  std::vector<const entry*> tests;
  for (const entry* e = head(); e != nullptr; e = e->next) tests.push_back(e);
  std::reverse(tests.begin(), tests.end());
  return tests;
}

bool contains(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool run(const entry& test, const char* program) {
  running = test.name;
  try {
    test.body();
    std::printf("ok      %s\n", test.name);
    return true;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "FAILED  %s: %s\n", test.name, e.what());
  }
  std::fprintf(stderr, "repeat: RC_PARAMS=\"%s\" %s %s\n", std::getenv("RC_PARAMS"), program, test.name);
  return false;
}

/// Fills in RC_PARAMS: 1000 cases a property and always the same seed, unless given, so that a change is judged by
/// itself and not by its luck; scripts/property-long looks for what is rare with a fresh seed. Set here so that the
/// line printed on a failure repeats the run exactly: RapidCheck's cases depend on both.
void complete_parameters() {
  const char* given = std::getenv("RC_PARAMS");
  std::string params = given != nullptr ? given : "";
  const auto add = [&](const char* key, const std::string& value) {
    if (params.find(key) != std::string::npos) return;
    params += (params.empty() ? "" : " ") + std::string(key) + "=" + value;
  };
  add("max_success", "1000");
  add("seed", "1");
  setenv("RC_PARAMS", params.c_str(), 1);
}

/// The names known to CMake must be exactly the ones in this executable.
int compare_with(const std::vector<std::string>& listed) {
  int missing = 0;
  for (const entry* e : all()) {
    if (contains(listed, e->name)) continue;
    std::fprintf(stderr, "%s is not a CTest test: put CMDQ_TEST(%s) at the start of its line\n", e->name, e->name);
    missing = 1;
  }
  return missing;
}
}  // namespace

entry::entry(const char* test_name, void (*test_body)()) noexcept : name(test_name), body(test_body), next(head()) {
  head() = this;
}

const char* current() noexcept { return running; }
}  // namespace cmdq::test

int main(int argc, char** argv) {
  using namespace cmdq::test;
  const std::vector<std::string> names(argv + 1, argv + argc);
  const auto tests = all();
  if (!names.empty() && names[0] == "--list") {
    for (const entry* e : tests) std::puts(e->name);
    return 0;
  }
  if (!names.empty() && names[0] == "--listed") return compare_with(names);
  for (const std::string& name : names) {
    const bool known = std::any_of(tests.begin(), tests.end(), [&](const entry* e) { return name == e->name; });
    if (!known) {
      std::fprintf(stderr, "no test '%s'; %s --list names them all\n", name.c_str(), argv[0]);
      return 2;
    }
  }
  complete_parameters();
  bool passed = true;
  for (const entry* e : tests) {
    if (names.empty() || contains(names, e->name)) passed = run(*e, argv[0]) && passed;
  }
  return passed ? 0 : 1;
}

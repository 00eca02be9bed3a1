// SPDX-License-Identifier: BSL-1.0
#include <exception>
#include <span>
#include <vector>

#include "check.hpp"

namespace cmdq::manycore::test {
std::map<std::string, std::function<void()>>& all() {
  static std::map<std::string, std::function<void()>> tests;
  return tests;
}
}  // namespace cmdq::manycore::test

// Runs the named tests, or all. With --listed: fails unless the names given are exactly the tests there are.
int main(int argc, char** argv) {
  using cmdq::manycore::test::all;
  std::vector<std::string> names;
  for (const char* a : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) names.emplace_back(a);
  if (!names.empty() && names[0] == "--listed") {
    int missing = 0;
    for (const auto& [name, body] : all())
      if (std::find(names.begin() + 1, names.end(), name) == names.end()) {
        fmt::print("{} is not run by CTest\n", name);
        missing = 1;
      }
    return missing;
  }
  if (names.empty())
    for (const auto& [name, body] : all()) names.push_back(name);
  int failed = 0;
  for (const auto& n : names) {
    const auto at = all().find(n);
    if (at == all().end()) {
      fmt::print(stderr, "no test named {}\n", n);
      return 2;
    }
    try {
      at->second();
      fmt::print("ok {}\n", n);
    } catch (const std::exception& e) {
      fmt::print("FAILED {}: {}\n", n, e.what());
      failed = 1;
    }
  }
  return failed;
}

// SPDX-License-Identifier: BSL-1.0
// Named tests that throw when a check fails.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace cmdq::manycore::test {

std::map<std::string, std::function<void()>>& all();

struct registration {
  registration(const char* name, void (*body)()) { all()[name] = body; }
};

template <class A, class B>
void equal(const A& a, const B& b, const char* what) {
  if (!(a == b)) throw std::runtime_error(fmt::format("{}: {} is not {}", what, a, b));
}
inline void holds(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error("does not hold: " + what);
}

}  // namespace cmdq::manycore::test

#define CHECKED_TEST(name)                                                          \
  static void name();                                                               \
  static const cmdq::manycore::test::registration name##_registration(#name, name); \
  static void name()
#define CHECK_EQUAL(a, b) cmdq::manycore::test::equal((a), (b), #a)
#define CHECK(x) cmdq::manycore::test::holds((x), #x)

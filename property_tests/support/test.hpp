// SPDX-License-Identifier: BSL-1.0
// Named tests and the few checks they need. A source writes
//
//   CMDQ_TEST(bug_L01_full_ring) { CMDQ_CHECK_EQ(f(4), 5u); }
//   CMDQ_TEST(roundtrip) { cmdq::test::property([](uint32_t x) { CMDQ_CHECK_EQ(g(h(x)), x); }); }
//
// with CMDQ_TEST at the start of a line (CMake finds the names there). Checks throw, so they serve in plain tests and,
// with shrinking, inside properties; RC_PRE, RC_ASSERT and rc::gen work as usual.
#pragma once

#include <rapidcheck.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace cmdq::test {

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One registered test; the constructor puts it in the list that main runs.
struct entry {
  entry(const char* test_name, void (*test_body)()) noexcept;
  const char* name;
  void (*body)();
  entry* next = nullptr;
};

/// Name of the test that runs now.
const char* current() noexcept;

/// Checks a RapidCheck property under the current test's name; throws when it is falsified. RapidCheck prints the seed
/// and the shrunk counterexample, main prints the command that repeats it. RC_PARAMS="max_success=N" sets the cases.
template <class Testable>
void property(Testable&& testable) {
  if (!rc::check(current(), std::forward<Testable>(testable))) throw failure("property falsified");
}

/// As text: numbers in decimal and hexadecimal, enums as their number, unprintable things by name only.
template <class T>
std::string shown(const T& v) {
  std::ostringstream out;
  if constexpr (std::is_same_v<T, bool>) {
    out << (v ? "true" : "false");
  } else if constexpr (std::is_enum_v<T>) {
    out << +static_cast<std::underlying_type_t<T>>(v);
  } else if constexpr (std::is_integral_v<T>) {
    out << +v << " (0x" << std::hex << +v << ')';
  } else if constexpr (requires { out << v; }) {
    out << v;
  } else {
    out << "(unprintable)";
  }
  return out.str();
}

[[noreturn]] inline void fail(const char* file, int line, const std::string& what) {
  std::ostringstream out;
  out << file << ':' << line << ": " << what;
  throw failure(out.str());
}

template <class A, class B>
void check_eq(const A& a, const B& b, const char* text, const char* file, int line) {
  if (!(a == b)) fail(file, line, std::string(text) + "\n  left:  " + shown(a) + "\n  right: " + shown(b));
}

}  // namespace cmdq::test

#define CMDQ_TEST(NAME)                                            \
  static void NAME();                                              \
  static ::cmdq::test::entry cmdq_test_entry_##NAME{#NAME, &NAME}; \
  static void NAME()

#define CMDQ_CHECK(...)                                                                        \
  do {                                                                                         \
    if (!(__VA_ARGS__)) ::cmdq::test::fail(__FILE__, __LINE__, "check failed: " #__VA_ARGS__); \
  } while (false)

#define CMDQ_CHECK_EQ(A, B) ::cmdq::test::check_eq((A), (B), #A " == " #B, __FILE__, __LINE__)

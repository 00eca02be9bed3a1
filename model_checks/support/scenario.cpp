// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

#include "platform.hpp"

#include <algorithm>
#include <string_view>

namespace cmdq::checks {

const char* name(schedule s) {
  constexpr const char* names[] = {"full", "bounded", "random"};
  return names[static_cast<unsigned>(s)];
}

const char* name(ending o) {
  constexpr const char* names[] = {"passed",   "assertion",     "data race", "deadlock",
                                   "livelock", "uninitialised", "other"};
  return names[static_cast<unsigned>(o)];
}

namespace {
std::vector<registered>& list() {
  static std::vector<registered> all;
  return all;
}
}  // namespace

void add_scenario(registered r) {
  const auto later = [&r](const registered& other) {
    return std::string_view(r.about->name) < std::string_view(other.about->name);
  };
  list().insert(std::find_if(list().begin(), list().end(), later), r);
}

const std::vector<registered>& all_scenarios() { return list(); }

const registered* find_scenario(std::string_view name) {
  for (const registered& r : list()) {
    if (name == r.about->name) return &r;
  }
  return nullptr;
}

#if defined(CMDQ_EXHAUST)
std::uint32_t any_number(std::uint32_t n) { return n - 1; }
void check(bool holds, const char* what) {
  if (!holds) exhaust::explorer::at_work()->fail(what);
}
#else
std::uint32_t any_number(std::uint32_t n) { return rl::rand(n); }
void check(bool holds, const char* what) {
  if (!holds) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, where("check"));
}
#endif

}  // namespace cmdq::checks

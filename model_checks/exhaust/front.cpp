// SPDX-License-Identifier: BSL-1.0
#include "front.hpp"

#include "registry.hpp"

#include <list>
#include <stdexcept>
#include <string_view>

namespace cmdq::checks {

std::vector<explored_scenario>& explored_scenarios() {
  static std::vector<explored_scenario> all;
  return all;
}

namespace {

alignas(scenario_alignment) unsigned char storage[scenario_storage];

class scenario_program : public exhaust::program {
 public:
  explicit scenario_program(const registered& what) : what_(what) {}
  [[nodiscard]] unsigned threads() const override { return what_.about->threads; }
  void begin() override { body_ = what_.construct(what_.parameter, storage); }
  void thread(unsigned index) override { body_->thread(index); }
  void finish() override { body_->finish(); }
  void end() override {
    if (body_ != nullptr) body_->~scenario();
    body_ = nullptr;
  }
  unsigned daemons() {
    begin();
    const unsigned n = body_->daemons();
    end();
    return n;
  }

 private:
  const registered what_;
  scenario* body_ = nullptr;
};

/// Wrong variants that are not found: those that are none where each load returns the last store, and three that lie
/// deep.
const char* not_found_because(std::string_view name) {
  if (name == "wrong/park_without_the_sleepers_fence" || name == "wrong/flush_begins_before_the_clear" ||
      name == "wrong/atc_attached_without_a_fence")
    return "a fence left out: sequentially consistent memory does not need it";
  if (name == "wrong/group_opened_without_space")
    return "the entries are free by then: what is missing is the order that says so, and here all accesses order";
  if (name == "wrong/lock_after_valid" || name == "wrong/more_than_a_lap" ||
      name == "wrong/group_handed_over_too_early")
    return "lies deep: random schedules come to it at once, this search does not";
  return nullptr;
}

/// Smaller workloads for wrong variants that the search comes to late.
struct smaller {
  const char* name;
  unsigned threads;
  workload work;
};
const smaller smaller_ones[] = {
    {"wrong/two_error_handlers", 2, {.first = 3, .illegal = 0, .device = {.at_once = true}}},
    {"wrong/group_joined_in_two_steps", 3, {.first = 3, .groups = 2}},
    {"wrong/group_place_read_too_early", 3, {.first = 0xfffffff0U, .groups = 2}},
    {"wrong/device_cons_before_fetch",
     2,
     {.log2 = 1, .first = 3, .producers = 1, .lists = 2, .unchecked = true, .device = {.cons_before_fetch = true}}},
    {"wrong/range_end_not_stored", 3, {.log2 = 3, .first = 3, .lists = 2, .unsynced = true}},
};

/// With Relacy's: the wrong variants, and what is small.
std::vector<explored_scenario> all() {
  std::vector<explored_scenario> out = explored_scenarios();
  static std::list<facts> changed;
  for (registered r : all_scenarios()) {
    for (const smaller& s : smaller_ones) {
      if (std::string_view(s.name) != r.about->name) continue;
      changed.push_back(*r.about);
      changed.back().threads = s.threads;
      r = {&changed.back(), r.construct, &s.work};
    }
    const bool sound = r.about->expected == ending::passed;
    out.push_back({r, {.ticks = 10}, sound ? exhaust::kind::everyday : exhaust::kind::wrong});
  }
  return out;
}

}  // namespace
}  // namespace cmdq::checks

namespace cmdq::exhaust {

std::vector<listed> scenarios() {
  std::vector<listed> out;
  for (const checks::explored_scenario& s : checks::all()) {
    const checks::facts& f = *s.what.about;
    out.push_back(
        {f.name, f.proves, f.bounds, s.size, checks::not_found_because(f.name), f.broken.how != checks::fault::none});
  }
  return out;
}

findings explore(const std::string& name, std::uint64_t executions, double seconds, bool sound) {
  for (const checks::explored_scenario& s : checks::all()) {
    if (name != s.what.about->name) continue;
    if (!sound) checks::sabotage_in_force = s.what.about->broken;
    checks::scenario_program body(s.what);
    limits how = s.how;
    how.executions = executions;
    how.seconds = seconds;
    how.daemons = body.daemons();
    findings sum;
    sum.complete = true;
    for (how.stops_before = 0;; ++how.stops_before) {
      const findings f = explorer(body, how).explore();
      sum.executions += f.executions;
      sum.redundant += f.redundant;
      sum.seconds += f.seconds;
      sum.complete = sum.complete && f.complete;
      sum.failure = f.failure;
      sum.history = f.history;
      if (!f.failure.empty() || !f.stopped) return sum;
    }
  }
  throw std::invalid_argument("no scenario '" + name + "'; see: cmdq-check exhaust --list");
}

}  // namespace cmdq::exhaust

// SPDX-License-Identifier: BSL-1.0
#include "front.hpp"

#include "registry.hpp"

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

/// Why a wrong variant is none where each load returns the last store.
const char* needs_weak_memory(std::string_view name) {
  if (name == "wrong/park_without_the_sleepers_fence" || name == "wrong/flush_begins_before_the_clear")
    return "a fence left out: sequentially consistent memory does not need it";
  return nullptr;
}

/// Wrong variants are those of Relacy's, with their own workloads.
std::vector<explored_scenario> all() {
  std::vector<explored_scenario> out = explored_scenarios();
  for (const registered& r : all_scenarios())
    if (r.about->expected != ending::passed) out.push_back({r, {}, exhaust::kind::wrong});
  return out;
}

}  // namespace
}  // namespace cmdq::checks

namespace cmdq::exhaust {

std::vector<listed> scenarios() {
  std::vector<listed> out;
  for (const checks::explored_scenario& s : checks::all()) {
    const checks::facts& f = *s.what.about;
    out.push_back({f.name, f.proves, f.bounds, s.size, checks::needs_weak_memory(f.name)});
  }
  return out;
}

findings explore(const std::string& name, std::uint64_t executions, double seconds) {
  for (const checks::explored_scenario& s : checks::all()) {
    if (name != s.what.about->name) continue;
    checks::sabotage_in_force = s.what.about->broken;
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

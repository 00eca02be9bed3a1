// SPDX-License-Identifier: BSL-1.0
// Relacy's machinery for one number of threads. Scenarios are behind a virtual call, so that this heavy template is
// compiled once for each number of threads and not once for each scenario.
#pragma once

#include "engine.hpp"
#include "history.hpp"
#include "relacy_platform.hpp"
#include "schedulers.hpp"

#include <sstream>

namespace cmdq::checks {

struct exploration {
  const registered* what = nullptr;
  std::uint64_t begun = 0;
  std::uint64_t limit = 0;  ///< executions after which a search is cut; 0: none
  scenario* body = nullptr;
  alignas(scenario_alignment) unsigned char storage[scenario_storage];
};
extern exploration current;

template <unsigned Threads>
struct suite : rl::test_suite<suite<Threads>, static_cast<rl::thread_id_t>(Threads)> {
  suite() {
    ++current.begun;
    if (current.limit != 0 && current.begun > current.limit) rl::ctx().rl_until("limit", where("limit"));
    virtual_clock::restart();
    current.body = current.what->construct(current.what->parameter, current.storage);
  }
  ~suite() { current.body->~scenario(); }
  void thread(unsigned index) { current.body->thread(index); }
  void after() { current.body->finish(); }
};

/// One exploration. On failure a second pass over the failing execution writes its history into `text`.
template <unsigned Threads, class Scheduler>
rl::test_result_e explore_with(rl::test_params& params, std::string& text) {
  using tested = suite<Threads>;
  rl::ostringstream state;
  rl::ostringstream output;
  params.output_stream = &output;
  params.progress_stream = &output;
  const rl::test_result_e result = rl::run_test<tested, Scheduler>(params, state, false);
  if (result == rl::test_result_success || result == rl::test_result_until_condition_hit) return result;
  params.final_state = state.str();
  params.initial_state = state.str();
  params.collect_history = true;
  current.limit = 0;
  output.str("");
  rl::ostringstream unused;
  const rl::iteration_t failed_at = params.stop_iteration;
  const rl::test_result_e again = rl::run_test<tested, Scheduler>(params, unused, true);
  params.stop_iteration = failed_at;
  text =
      again == result ? output.str().c_str() : "the failing execution did not fail again: scenario not deterministic";
  return result;
}

template <unsigned Threads>
rl::test_result_e explore_threads(rl::test_params& params, std::string& text) {
  constexpr auto n = static_cast<rl::thread_id_t>(Threads);
  switch (params.search_type) {
    case rl::sched_random:
      return explore_with<Threads, rl::random_scheduler<n>>(params, text);
    case rl::sched_bound:
      return explore_with<Threads, bounded_scheduler<n>>(params, text);
    default:
      return explore_with<Threads, rl::full_search_scheduler<n>>(params, text);
  }
}

extern template rl::test_result_e explore_threads<2>(rl::test_params&, std::string&);
extern template rl::test_result_e explore_threads<3>(rl::test_params&, std::string&);
extern template rl::test_result_e explore_threads<4>(rl::test_params&, std::string&);
extern template rl::test_result_e explore_threads<5>(rl::test_params&, std::string&);

}  // namespace cmdq::checks

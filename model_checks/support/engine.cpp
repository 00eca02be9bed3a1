// SPDX-License-Identifier: BSL-1.0
#include "engine.hpp"

#include "engine_impl.hpp"

#include <ctime>

namespace cmdq::checks {

exploration current;

namespace {

ending outcome_of(rl::test_result_e r) {
  switch (r) {
    case rl::test_result_success:
    case rl::test_result_until_condition_hit:
      return ending::passed;
    case rl::test_result_user_assert_failed:
      return ending::assertion;
    case rl::test_result_data_race:
      return ending::data_race;
    case rl::test_result_deadlock:
      return ending::deadlock;
    case rl::test_result_livelock:
      return ending::livelock;
    case rl::test_result_unitialized_access:
      return ending::uninitialised;
    default:
      return ending::other;
  }
}

rl::test_params relacy_params(const facts& about, const request& how) {
  rl::test_params params;
  params.search_type = how.how == schedule::random    ? rl::sched_random
                       : how.how == schedule::bounded ? rl::sched_bound
                                                      : rl::sched_full;
  params.context_bound = how.bound;
  params.execution_depth_limit = about.depth;
  if (!how.state.empty()) {
    params.initial_state = how.state.c_str();
  } else if (how.how == schedule::random) {
    params.initial_state = (std::to_string(how.first) + " ").c_str();
  }
  params.iteration_count = how.how == schedule::random ? how.first + how.iterations - 1 : 0;
  return params;
}

rl::test_result_e dispatch(unsigned threads, rl::test_params& params, std::string& text) {
  switch (threads) {
    case 2:
      return explore_threads<2>(params, text);
    case 3:
      return explore_threads<3>(params, text);
    case 4:
      return explore_threads<4>(params, text);
    default:
      return explore_threads<5>(params, text);
  }
}

}  // namespace

report explore(const registered& what, const request& how) {
  sabotage_in_force = what.about->broken;
  current.what = &what;
  current.begun = 0;
  current.limit = how.how == schedule::random ? 0 : how.iterations;
  rl::test_params params = relacy_params(*what.about, how);
  std::string text;
  const std::clock_t start = std::clock();  // of this processor's time: others may be busy, too
  const rl::test_result_e result = dispatch(what.about->threads, params, text);

  report r;
  r.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  r.result = outcome_of(result);
  r.cut = result == rl::test_result_until_condition_hit;
  r.executions = how.how == schedule::random ? params.stop_iteration - how.first + 1 : params.stop_iteration;
  if (r.cut) r.executions = how.iterations;
  if (r.result != ending::passed) {
    r.detail = text.substr(0, text.find('\n'));
    r.state = params.final_state.c_str();
    r.history = readable_history(text);
  }
  return r;
}

}  // namespace cmdq::checks

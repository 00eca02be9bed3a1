// SPDX-License-Identifier: BSL-1.0
// Relacy's fair context-bound search, which also bounds how many loads of one execution may return an old value.
// Without that second bound a queue of three threads branches at each of its hundred loads.
#pragma once

#include "relacy.hpp"

namespace cmdq::checks {

template <rl::thread_id_t Threads>
class bounded_scheduler : public rl::tree_search_scheduler<bounded_scheduler<Threads>,
                                                           rl::context_bound_scheduler_thread_info<Threads>, Threads> {
 public:
  using base = rl::tree_search_scheduler<bounded_scheduler, rl::context_bound_scheduler_thread_info<Threads>, Threads>;
  using thread_info_t = typename base::thread_info_t;
  using shared_context_t = typename base::shared_context_t;

  bounded_scheduler(rl::test_params& params, shared_context_t& ctx, rl::thread_id_t dynamic_threads)
      : base(params, ctx, dynamic_threads) {}

  rl::thread_id_t iteration_begin_impl() {
    preemptions_left_ = this->params_.context_bound;
    stale_left_ = this->params_.context_bound;
    return base::iteration_begin_impl();
  }
  bool can_switch(thread_info_t&) { return preemptions_left_ != 0; }
  void on_switch(thread_info_t& t) {
    if (t.state_ == rl::thread_state_running) --preemptions_left_;
  }
  unsigned rand_impl(unsigned limit, rl::sched_type type) {
    if (type != rl::sched_type_atomic_load) return base::rand_impl(limit, type);
    if (stale_left_ == 0) return 0;
    const unsigned chosen = base::rand_impl(limit, type);
    if (chosen != 0) --stale_left_;
    return chosen;
  }
  double iteration_count_approx() { return 1.0; }

 private:
  unsigned preemptions_left_ = 0;
  unsigned stale_left_ = 0;
};

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
// How to run a queue of your own on the simulated machine: a configuration with manycore::platform, and, where you want
// one, a policy that the library does not have. Here: a wait policy that looks at a line only every 200 ns.
#include "../contention.hpp"
#include "check.hpp"

namespace cmdq::manycore {
namespace {

struct lazy_poll {
  template <class P>
  using channel = wait::spin::channel<P>;

  template <class P>
  class waiter : public wait::rounds<P> {
   public:
    [[nodiscard]] static constexpr stats::event kind() noexcept { return stats::event::spin; }
    template <class Blocked>
    void idle(channel<P>& /*where*/, const void* line, const Blocked& /*blocked*/,
              time_budget<P>& /*budget*/) noexcept {
      idle_device(line);
    }
    void idle_device(const void* /*line*/) noexcept {
      ++this->n_;
      if (machine* m = machine::running()) m->spend(200'000, other_work);
    }
  };
};

struct own_config : freestanding_config {
  using platform = manycore::platform;
  using wait = lazy_poll;
  using completion = cmdq::completion::poll_msi;
};

struct usual_config : own_config {
  using wait = cmdq::wait::spin;
};

}  // namespace

CHECKED_TEST(a_queue_of_ones_own_runs_here) {
  topology t = load_topology("arm-server-128");
  t.poll = 0;
  contention_options o;
  o.cpus = 32;
  o.think = t.think;
  const auto own = run_contention<own_config>(t, o);
  const auto usual = run_contention<usual_config>(t, o);
  CHECK(own.lists > 1000);
  CHECK(own.fairness > 0.8);
  // Who looks by the clock looks more often than who sleeps until the line changes.
  const auto polls = [](const contention_result& r) {
    const auto& c = r.sites[static_cast<unsigned>(site::cons_done)];
    return static_cast<double>(c.accesses) / static_cast<double>(r.lists);
  };
  fmt::print("{} CPUs: {:.0f} lists per CPU and second, {:.1f} polls per list; with wait::spin {:.0f} and {:.1f}\n",
             o.cpus, own.per_cpu_per_second, polls(own), usual.per_cpu_per_second, polls(usual));
  CHECK(polls(own) > polls(usual));
}

}  // namespace cmdq::manycore

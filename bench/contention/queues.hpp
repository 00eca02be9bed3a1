// SPDX-License-Identifier: BSL-1.0
// The library's queues as contenders. Each queues_*.cpp instantiates one strategy.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "contender.hpp"

namespace bench {

template <class Allocation, class Completion, class Wait, class Reclaim = cmdq::reclaim::counted>
struct queue_config : cmdq::default_config {
  using allocation = Allocation;
  using completion = Completion;
  using wait = Wait;
  using reclaim = Reclaim;
  using stats = cmdq::stats::counters;
};

template <class Config>
struct in_groups : Config {
  static constexpr bool grouped = true;
};

template <class Config>
cmdq::plan<P> plan_for(std::uint32_t threads, std::uint32_t list, const cmdq::ring_memory<P>& memory) {
  cmdq::options o;
  o.log2_size = ring_log2;
  o.producers = threads;
  o.batch_limit = list;
  if constexpr (requires { Config::grouped; }) {
    const std::uint32_t cores = std::max(1U, std::thread::hardware_concurrency());
    o.cpus_per_group = cpus_per_group != 0 ? cpus_per_group : std::clamp((cores + 1) / 2, 1U, 8U);
    o.groups = std::min((cores + o.cpus_per_group - 1) / o.cpus_per_group, cmdq::max_groups);
  }
  o.deadline_ns = cmdq::no_deadline;  // a measurement is not about time-outs
  const auto plan = cmdq::make_plan<Config>(o, memory);
  if (!plan) throw std::runtime_error(std::string("plan refused: ") + plan.why().field);
  return *plan;
}

template <class Config>
class queue_contender final : public contender {
  using queue = cmdq::command_queue<device, Config>;

  class one final : public session {
   public:
    explicit one(queue& q) {
      if (q.attach(producer_) != cmdq::status::ok) throw std::runtime_error("attach refused");
    }
    bool issue(const cmdq::command* list, std::uint32_t n) override {
      const cmdq::outcome o = producer_.issue(list, n);
      return o.ok() && o.done == n;
    }
    [[nodiscard]] std::uint64_t retries() const override {
      return producer_.stats().of(cmdq::stats::event::claim_retry);
    }

   private:
    typename queue::producer producer_;
  };

 public:
  explicit queue_contender(const scenario& s)
      : contender(s), queue_(plan_for<Config>(s.threads, s.list, memory()), dev()) {
    if constexpr (requires { queue_.completion().use_msi(true); }) {
      typename queue::producer first;
      if (queue_.attach(first) != cmdq::status::ok) throw std::runtime_error("attach refused");
      cmdq::completion::choose_completion(queue_, first);
    }
  }
  std::unique_ptr<session> join() override { return std::make_unique<one>(queue_); }

 private:
  queue queue_;
};

template <class Config>
std::unique_ptr<contender> make_queue(const scenario& s) {
  return std::make_unique<queue_contender<Config>>(s);
}

/// Every completion and wait policy of one strategy.
template <class A>
std::vector<entrant> queues_of(const std::string& strategy) {
  using namespace cmdq;
  using completion::automatic, completion::poll_cons, completion::poll_msi;
  return {
      {strategy, "cons", "yield", side::ours, &make_queue<queue_config<A, poll_cons, wait::spin_then_yield>>},
      {strategy, "cons", "park", side::ours, &make_queue<queue_config<A, poll_cons, wait::park>>},
      {strategy, "cons", "spin", side::ours, &make_queue<queue_config<A, poll_cons, wait::spin>>},
      {strategy, "msi", "yield", side::ours, &make_queue<queue_config<A, poll_msi, wait::spin_then_yield>>},
      {strategy, "msi", "park", side::ours, &make_queue<queue_config<A, poll_msi, wait::park>>},
      {strategy, "msi", "spin", side::ours, &make_queue<queue_config<A, poll_msi, wait::spin>>},
      {strategy, "automatic", "yield", side::ours, &make_queue<queue_config<A, automatic, wait::spin_then_yield>>},
  };
}

/// Those, and the published form: software CONS under the published lock, as in Linux.
template <class A>
std::vector<entrant> with_published(const std::string& strategy) {
  using published =
      queue_config<A, cmdq::completion::poll_cons, cmdq::wait::spin_then_yield, cmdq::reclaim::sync_locked>;
  std::vector<entrant> all = queues_of<A>(strategy);
  all.push_back({strategy + "/published", "cons", "yield", side::ours, &make_queue<published>});
  return all;
}

}  // namespace bench

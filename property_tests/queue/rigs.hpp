// SPDX-License-Identifier: BSL-1.0
// The queue of one combination of policies behind queue_face. Each rigs_*.cpp instantiates one allocation strategy.
#pragma once

#include <cmdq/completion/poll_msi.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/reclaim/sync_locked.hpp>
#include <cmdq/wait/park.hpp>

#include "rig.hpp"

namespace cmdq::test {

template <class Allocation, class Completion, class Reclaim, class Wait>
struct rig_config : freestanding_config {
  using platform = scheduled_platform;
  using allocation = Allocation;
  using completion = Completion;
  using reclaim = Reclaim;
  using wait = Wait;
  using stats = cmdq::stats::counters;
};

template <class Config>
class queue_of final : public queue_face {
 public:
  queue_of(const plan<scheduled_platform>& p, front& device) : queue_(p, device), producers_(p.opts.producers) {}

  status attach(unsigned i) override { return queue_.attach(producers_.at(i)); }
  void detach(unsigned i) override { producers_.at(i) = producer(); }
  outcome issue(unsigned i, const command* list, std::uint32_t n) override { return producers_.at(i).issue(list, n); }
  outcome issue_for(unsigned i, const command* list, std::uint32_t n, std::uint64_t ns) override {
    return producers_.at(i).issue_for(list, n, ns);
  }
  outcome insert(unsigned i, const command* list, std::uint32_t n) override { return producers_.at(i).insert(list, n); }
  status fill(unsigned i, const command* list, std::uint32_t n, bool sync, status& reserved,
              const std::function<void()>& meanwhile) override {
    auto w = producers_.at(i).reserve(n, sync);
    reserved = w.code();
    for (std::uint32_t k = 0; k < n; ++k)
      if (reserved == status::ok) CMDQ_CHECK_EQ(w.push(list[k]), status::ok);
    if (reserved == status::ok) meanwhile();
    const status s = w.commit();
    if (reserved == status::ok && !w.inserted()) reserved = s;
    return s;
  }
  result<ticket> submit(unsigned i, const command* list, std::uint32_t n) override {
    return producers_.at(i).submit(list, n);
  }
  status poll(unsigned i, const ticket& t) override { return producers_.at(i).poll(t); }
  status wait(unsigned i, const ticket& t, std::uint64_t ns) override { return producers_.at(i).wait(t, ns); }
  error_report handle_errors() override { return queue_.handle_errors(); }
  void acknowledge(std::uint32_t bits) override { queue_.acknowledge(bits); }
  std::uint32_t pending_errors() override { return queue_.pending_errors(); }
  status recover(msis m) override { return queue_.recover(m); }
  [[nodiscard]] std::uint32_t prod_register() const override { return queue_.prod_register(); }
  [[nodiscard]] std::uint32_t cons_register() const override { return queue_.cons_register(); }
  [[nodiscard]] stats::counters stats(unsigned i) const override { return producers_.at(i).stats(); }

 private:
  using queue = command_queue<front, Config>;
  using producer = typename queue::producer;
  queue queue_;
  std::vector<producer> producers_;
};

template <class Config>
std::unique_ptr<queue_face> make_one(const setup& s, const ring_memory<scheduled_platform>& m, front& device) {
  const auto p = make_plan<Config>(s.opts, m);
  if (!p) return nullptr;
  return std::make_unique<queue_of<Config>>(*p, device);
}

/// The remaining policies of one allocation strategy. `park` is tried with one completion mode only: it does not depend
/// on it.
template <class Allocation>
std::unique_ptr<queue_face> make_with(const setup& s, const ring_memory<scheduled_platform>& m, front& device) {
  using cons = completion::poll_cons;
  using msi = completion::poll_msi;
  using wait::spin;
  if constexpr (Allocation::needs_range_ends) {  // reclaim is its own
    if (s.park) return make_one<rig_config<Allocation, cons, reclaim::counted, wait::park>>(s, m, device);
    if (s.msi) return make_one<rig_config<Allocation, msi, reclaim::counted, spin>>(s, m, device);
    return make_one<rig_config<Allocation, cons, reclaim::counted, spin>>(s, m, device);
  } else {
    if (s.park) return make_one<rig_config<Allocation, cons, reclaim::sync_locked, wait::park>>(s, m, device);
    if (s.locked && s.msi) return make_one<rig_config<Allocation, msi, reclaim::sync_locked, spin>>(s, m, device);
    if (s.locked) return make_one<rig_config<Allocation, cons, reclaim::sync_locked, spin>>(s, m, device);
    if (s.msi) return make_one<rig_config<Allocation, msi, reclaim::counted, spin>>(s, m, device);
    return make_one<rig_config<Allocation, cons, reclaim::counted, spin>>(s, m, device);
  }
}

#define CMDQ_DECLARE_RIG(name, locked) \
  std::unique_ptr<queue_face> make_##name(const setup&, const ring_memory<scheduled_platform>&, front&);
CMDQ_FOR_EACH_STRATEGY(CMDQ_DECLARE_RIG)
#undef CMDQ_DECLARE_RIG

}  // namespace cmdq::test

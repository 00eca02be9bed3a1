// SPDX-License-Identifier: BSL-1.0
// Nothing but one strategy's queue with all it offers, compiled as a driver would: for its size and for what it calls.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/platform/aarch64.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/smmuv3/device.hpp>

namespace {

struct config : cmdq::freestanding_config {
  using platform = cmdq::platform::aarch64::bare_metal;
  using allocation = cmdq::allocation::QUEUE_STRATEGY;
};
using device = cmdq::smmuv3::device<>;
using queue = cmdq::command_queue<device, config>;

}  // namespace

inline void* operator new(size_t, void* place) noexcept { return place; }

extern "C" {
cmdq::status queue_make(void* place, device& d, const cmdq::options& o, const cmdq::ring_memory<config::platform>& m) {
  const auto plan = cmdq::make_plan<config>(o, m);
  if (plan) new (place) queue(*plan, d);
  return plan.code();
}
cmdq::status queue_bring_up(device& d, const cmdq::smmuv3::setup& s) { return d.bring_up<config::platform>(s).code(); }
cmdq::status queue_attach(queue& q, queue::producer& p) { return q.attach(p); }
void queue_detach(queue::producer& p) { p.~producer(); }
cmdq::status queue_issue(queue::producer& p, const cmdq::command* list, uint32_t n) { return p.issue(list, n).code; }
cmdq::status queue_insert(queue::producer& p, const cmdq::command* list, uint32_t n) { return p.insert(list, n).code; }
bool queue_submit(queue::producer& p, const cmdq::command* list, uint32_t n, cmdq::ticket& t) {
  const auto submitted = p.submit(list, n);
  if (submitted) t = *submitted;
  return submitted.ok();
}
cmdq::status queue_poll(queue::producer& p, const cmdq::ticket& t) { return p.poll(t); }
cmdq::status queue_wait(queue::producer& p, const cmdq::ticket& t, uint64_t ns) { return p.wait(t, ns); }
cmdq::status queue_handle_errors(queue& q) { return q.handle_errors().code; }
cmdq::status queue_recover(queue& q) { return q.recover(); }
}

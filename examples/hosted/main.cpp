// SPDX-License-Identifier: BSL-1.0
// Four threads invalidate TLB entries through one command queue. The device is the modelled SMMUv3, so that this runs
// anywhere; a driver passes its own registers instead (see cmdq::device_type).
#include <cmdq/cmdq.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/smmuv3/commands.hpp>

#include <atomic>
#include <thread>
#include <vector>

using platform = cmdq::default_config::platform;
using smmu = cmdq::model::hardware<platform, cmdq::ring_entry<platform>>;  // or the registers of a real one

int main() {
  static cmdq::fixed_memory<platform, 10> memory;  // a ring of 2^10 entries
  smmu model(cmdq::model::device_drive::in_write);
  if (model.attach(memory.memory().entries, 10, memory.memory().device_address) != cmdq::status::ok) return 2;
  const auto plan = cmdq::make_plan<cmdq::default_config>({.batch_limit = 16, .producers = 4}, memory.memory());
  if (!plan) return 2;  // plan.why() names the option, its value and the limit
  cmdq::command_queue<smmu, cmdq::default_config> queue(*plan, model);

  std::atomic<unsigned> done{0};
  std::vector<std::jthread> threads;
  for (unsigned asid = 0; asid < 4; ++asid)
    threads.emplace_back([&queue, &done, asid] {
      decltype(queue)::producer me;  // this thread's right to insert
      if (queue.attach(me) != cmdq::status::ok) return;
      const auto tlbi = encode(cmdq::smmuv3::tlbi_nh_va{.asid = asid, .leaf = true, .addr = 0x1000});
      for (int i = 0; i < 1000; ++i) done += me.issue(&*tlbi, 1).done;  // returns once the device has done it
    });
  threads.clear();
  return done == 4000 ? 0 : 1;
}

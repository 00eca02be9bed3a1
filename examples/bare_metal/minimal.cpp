// SPDX-License-Identifier: BSL-1.0
// The least that a driver writes; the README explains it.
#include "board/board.hpp"

#include <cmdq/platform/aarch64.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/smmuv3/commands.hpp>
#include <cmdq/smmuv3/device.hpp>

namespace {

using platform = cmdq::platform::aarch64::bare_metal;
struct config : cmdq::freestanding_config {  // combining, polls CONS
  using platform = ::platform;
};
using device_type = cmdq::smmuv3::device<>;
using queue_type = cmdq::command_queue<device_type, config>;

cmdq::fixed_memory<platform, 10, 8> memory;  // 1024 entries, 8 CPUs

int report(const cmdq::refusal& why) {
  board::print(why.field);
  board::print(": ");
  board::print(cmdq::name(why.code));
  board::print("\n");
  return 1;
}

}  // namespace

int main() {
  device_type device({board::smmu_base});
  const auto up = device.bring_up<platform>({.queue_base = memory.memory().device_address, .queue_log2 = 10});
  if (!up) return report(up.why());  // register, what it held, what it should have held
  const cmdq::options options = cmdq::smmuv3::fit({.log2_size = 10, .batch_limit = 63, .producers = 8}, *up);
  const auto plan = cmdq::make_plan<config>(options, memory.memory());
  if (!plan) return report(plan.why());  // option, its value, the limit
  queue_type queue(*plan, device);

  queue_type::producer cpu;  // one per CPU
  if (queue.attach(cpu) != cmdq::status::ok) return 1;
  const cmdq::command everything[] = {*cmdq::smmuv3::encode(cmdq::smmuv3::cfgi_all),
                                      *cmdq::smmuv3::encode(cmdq::smmuv3::tlbi_nsnh_all{})};
  if (!cpu.issue(everything, 2).ok()) return 1;  // the device may hold stale configuration and translations
  const cmdq::command one = *cmdq::smmuv3::encode(cmdq::smmuv3::tlbi_nh_va{.asid = 7, .addr = 0x8000});
  const cmdq::outcome done = cpu.issue(&one, 1);  // with a CMD_SYNC: the device has done it
  board::print(done.ok() ? "minimal: ok\n" : "minimal: failed\n");
  return done.ok() ? 0 : 1;
}

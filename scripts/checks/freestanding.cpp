// SPDX-License-Identifier: BSL-1.0
// What must compile without any library: a queue of every strategy and way of completion, driven through each of its
// calls on a device given by four functions, and typed commands. Compiled by freestanding.sh.
#include <cmdq/locks/sync_lock.hpp>
#include <cmdq/platform/builtins.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/reclaim/sync_locked.hpp>
#include <cmdq/smmuv3/capabilities.hpp>
#include <cmdq/smmuv3/commands.hpp>
#include <cmdq/smmuv3/device.hpp>
#include <cmdq/smmuv3/quirks.hpp>
#include <cmdq/smmuv3/range.hpp>
#include <cmdq/stats/counters.hpp>

extern "C" uint32_t read_register(uint32_t offset);
extern "C" void write_register(uint32_t offset, uint32_t value);

namespace {

struct device {
  void write_prod(uint32_t v) noexcept { write_register(0x98, v); }
  uint32_t read_cons() noexcept { return read_register(0x9c); }
  uint32_t read_gerror() noexcept { return read_register(0x60); }
  uint32_t read_gerrorn() noexcept { return read_register(0x64); }
  void write_gerrorn(uint32_t v) noexcept { write_register(0x64, v); }
};

template <class Allocation, class Reclaim, class Completion>
struct config : cmdq::freestanding_config {
  using allocation = Allocation;
  using reclaim = Reclaim;
  using completion = Completion;
  using stats = cmdq::stats::counters;
};

template <class Config>
cmdq::status use() {
  static cmdq::fixed_memory<cmdq::platform::builtins, 6> memory;
  cmdq::options o;
  o.log2_size = 6;
  o.batch_limit = 4;
  o.producers = 4;
  const auto plan = cmdq::make_plan<Config>(o, memory.memory());
  if (!plan) return plan.code();
  device d;
  cmdq::command_queue<device, Config> queue(*plan, d);
  typename decltype(queue)::producer me;
  if (const cmdq::status s = queue.attach(me); s != cmdq::status::ok) return s;
  const auto c = encode(cmdq::smmuv3::tlbi_nh_va{.vmid = 1, .asid = 2, .leaf = true, .addr = 0x3000});
  if (!c) return c.code();
  if (const cmdq::outcome done = me.issue(&*c, 1); !done.ok()) return done.code;
  if (const cmdq::outcome in = me.insert(&*c, 1); !in.ok()) return in.code;
  const auto ticket = me.submit(&*c, 1);
  if (!ticket) return ticket.code();
  if (const cmdq::status s = me.poll(*ticket); s != cmdq::status::ok) return s;
  if (const cmdq::status s = me.wait(*ticket, 1000); s != cmdq::status::ok) return s;
  if (const cmdq::status s = queue.handle_errors(); s != cmdq::status::ok) return s;
  return queue.recover();
}

template <class Allocation, class Reclaim>
cmdq::status both() {
  const cmdq::status cons = use<config<Allocation, Reclaim, cmdq::completion::poll_cons>>();
  return cons == cmdq::status::ok ? use<config<Allocation, Reclaim, cmdq::completion::poll_msi>>() : cons;
}

}  // namespace

extern "C" int drive() {
  using namespace cmdq;
  const status all[] = {
      both<allocation::cmpxchg_loop, reclaim::counted>(), both<allocation::cmpxchg_loop, reclaim::sync_locked>(),
      both<allocation::owner_bits, reclaim::counted>(), both<allocation::owner_bits, reclaim::sync_locked>(),
      both<allocation::combining, reclaim::counted>()};
  for (const status s : all)
    if (s != status::ok) return 1;
  return 0;
}

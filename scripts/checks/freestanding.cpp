// SPDX-License-Identifier: BSL-1.0
// What must compile without any library: a queue of every strategy and way of completion, driven through each of its
// calls on a device given by four functions, typed commands, and the DMA layer. Compiled by freestanding.sh.
#include <cmdq/dma/dispatch.hpp>
#include <cmdq/dma/mapper.hpp>
#include <cmdq/dma/queue_invalidator.hpp>
#include <cmdq/locks/sync_lock.hpp>
#include <cmdq/platform/builtins.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/dump.hpp>
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
extern "C" void write_console(const char* text, size_t length);

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
  dump(queue, [](const char* text, size_t length) { write_console(text, length); });
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
  if (const cmdq::status s = queue.handle_errors().code; s != cmdq::status::ok) return s;
  return queue.recover();
}

/// A mapper over a queue, each of its operations once.
cmdq::status map_and_unmap() {
  using namespace cmdq;
  using P = platform::builtins;
  using queue_type = command_queue<device, freestanding_config>;
  using invalidator_type = dma::queue_invalidator<P, queue_type>;
  using mapper_type = dma::mapper<P, invalidator_type>;
  static fixed_memory<P, 6> ring;
  static unsigned char bytes[1 << 18];
  static unsigned char pool[4 * 4096];
  options o;
  o.log2_size = 6;
  o.batch_limit = 4;
  const auto plan = make_plan<freestanding_config>(o, ring.memory());
  if (!plan) return plan.code();
  device d;
  queue_type queue(*plan, d);
  dma::arena memory(bytes, sizeof bytes);
  invalidator_type invalidator;
  mapper_type mapper;
  if (const status s = invalidator.init(memory, queue, 2, {.ats = true}); s != status::ok) return s;
  if (const status s = invalidator.attach({.sid = 1}); s != status::ok) return s;
  dma::mapper_options wanted;
  wanted.pool = {pool, 0x10000, 4};
  wanted.view = {pool, [](void* base, uint64_t pa) { return static_cast<unsigned char*>(base) + pa % sizeof pool; }};
  wanted.iova.log2_pages = 6;
  if (const status s = mapper.init(memory, wanted, invalidator); s != status::ok) return s;
  if (const status s = mapper.reserve(0x300000, 4096); s != status::ok) return s;
  if (const status s = mapper.set_mode(dma::mode::lazy, memory, {.entries = 16}); s != status::ok) return s;
  const dma::handle<mapper_type> handle(mapper);
  const dma::device dev{false, {}};
  const auto iova = handle.map(0, dev, 0x20010, 5000);
  if (!iova) return iova.code();
  if (const status s = handle.sync_for_device(0, dev, *iova, 1); s != status::ok) return s;
  if (const status s = handle.sync_for_cpu(0, dev, *iova, 1); s != status::ok) return s;
  dma::gather batch;
  if (const auto out = mapper.unmap(0, dev, *iova, 5000, batch); !out.ok()) return out.code;
  if (const status s = mapper.sync(0, batch); s != status::ok) return s;
  dma::segment list[] = {{0x20000, 4096}, {0x30000, 4096}};
  const auto n = handle.map_sg(0, dev, list, 2, list);
  if (!n) return n.code();
  if (const status s = mapper.unmap_part(0, list[0].address, 4096); s != status::ok) return s;
  if (const status s = handle.unmap_sg(0, dev, list, *n); s != status::ok) return s;
  const auto both = handle.alloc(0, dev, 100);
  if (!both) return both.code();
  if (const status s = handle.free(0, dev, *both); s != status::ok) return s;
  mapper.on_timer(0, 1);
  if (const status s = mapper.drain(0, 1000); s != status::ok) return s;
  if (const status s = mapper.resume(0); s != status::ok) return s;
  return mapper.close(0).code;
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
      both<allocation::owner_bits, reclaim::counted>(),   both<allocation::owner_bits, reclaim::sync_locked>(),
      both<allocation::combining, reclaim::counted>(),    map_and_unmap()};
  for (const status s : all)
    if (s != status::ok) return 1;
  return 0;
}

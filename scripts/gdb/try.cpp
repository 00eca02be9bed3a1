// SPDX-License-Identifier: BSL-1.0
// What check.py looks at with cmdq.py in gdb: a queue of each strategy, stopped in looked_at().
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/platform/builtins.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>

namespace {

/// Consumes nothing.
struct device {
  void write_prod(uint32_t) noexcept {}
  uint32_t read_cons() noexcept { return 0; }
  uint32_t read_gerror() noexcept { return 0; }
  uint32_t read_gerrorn() noexcept { return 0; }
  void write_gerrorn(uint32_t) noexcept {}
};

template <class Allocation>
struct config : cmdq::freestanding_config {
  using allocation = Allocation;
};

[[gnu::noinline]] void looked_at(const volatile void*) { asm volatile("" ::: "memory"); }

template <class Allocation>
void stop_with_a_queue() {
  static cmdq::fixed_memory<cmdq::platform::builtins, 5, 2> memory;
  cmdq::options o;
  o.log2_size = 5;
  o.batch_limit = 2;
  o.producers = 2;
  o.first = 0U - 3;
  const auto plan = cmdq::make_plan<config<Allocation>>(o, memory.memory());
  if (!plan) return;
  device d;
  cmdq::command_queue<device, config<Allocation>> queue(*plan, d);
  const cmdq::geometry shape{5};
  const cmdq::command commands[] = {{{0x12, 0x3000}}, {{0xff, 0}}};
  typename decltype(queue)::producer me;
  if (queue.attach(me) != cmdq::status::ok) return;
  if (!me.insert(commands, 1).ok()) return;
  auto open = me.reserve(1, false);
  cmdq::producer_cell<cmdq::platform::builtins> erring = {};
  erring.set(erring.waited, 16, 18);
  erring.error.store(cmdq::pack_error(17, 1), cmdq::at<cmdq::site::cell_error>);
  looked_at(&shape);
  static_cast<void>(open.push(commands[0]));
  static_cast<void>(open.commit());
}

}  // namespace

int main() {
#define CMDQ_STOP(name, locked) stop_with_a_queue<cmdq::allocation::name>();
  CMDQ_FOR_EACH_STRATEGY(CMDQ_STOP)
}

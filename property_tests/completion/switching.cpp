// SPDX-License-Identifier: BSL-1.0
// completion::automatic: the mode changes while others insert and wait, under generated interleavings. A CMD_SYNC keeps
// the form that it was written in: its MSI, however late, hits no later command, and its waiter is not left waiting.
#include <cmdq/completion/automatic.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <set>

#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

struct seen_commands : model::null_hooks {
  std::vector<command>* to = nullptr;
  void executed(position, const command& c, std::uint64_t) const { to->push_back(c); }
};

template <class Allocation>
struct switched : freestanding_config {
  using platform = scheduled_platform;
  using allocation = Allocation;
  using completion = cmdq::completion::automatic;
};

struct switching_case {
  std::uint32_t lists = 0;
  std::uint32_t msi_late_steps = 0;
  std::uint32_t cons_every = 1;
  std::vector<bool> modes;
  choices interleaving;
};

constexpr unsigned producers = 3;
constexpr unsigned log2_ring = 3;
constexpr std::uint64_t deadline_ns = 2'000'000;

template <class Allocation>
void run(const switching_case& c) {
  using config = switched<Allocation>;
  using device_type = model::hardware<scheduled_platform, ring_entry<scheduled_platform>, seen_commands>;
  using queue_type = command_queue<device_type, config>;
  std::vector<command> seen;
  seen_commands hooks;
  hooks.to = &seen;
  fixed_memory<scheduled_platform, log2_ring, producers> memory;
  device_type device(model::device_drive::stepped, {}, hooks);
  device.speed.msi_late_steps = c.msi_late_steps;
  device.speed.cons_every = c.cons_every;
  CMDQ_CHECK_EQ(device.attach(memory.memory().entries, log2_ring, memory.memory().device_address), status::ok);
  options o;
  o.log2_size = log2_ring;
  o.batch_limit = 1;
  o.producers = producers;
  o.deadline_ns = deadline_ns;
  const auto plan = make_plan<config>(o, memory.memory());
  CMDQ_CHECK(plan.ok());
  queue_type queue(*plan, device);

  scheduler s(c.interleaving, 2'000'000);
  for (unsigned p = 0; p < producers; ++p)
    s.spawn([&, p] {
      typename queue_type::producer me;
      CMDQ_CHECK_EQ(queue.attach(me), status::ok);
      for (std::uint64_t i = 0; i < c.lists; ++i) {
        const command tlbi{{0x12, (p * 100 + i) << 12}};
        const outcome done = me.issue(&tlbi, 1);
        CMDQ_CHECK_EQ(done.code, status::ok);
        CMDQ_CHECK_EQ(done.done, 1U);
        CMDQ_CHECK(std::count(seen.begin(), seen.end(), tlbi) == 1);
      }
    });
  s.spawn([&] {
    for (const bool msi : c.modes) {
      static_cast<void>(queue.completion().use_msi(msi));
      for (int i = 0; i < 20; ++i) scheduled_platform::access();
    }
  });
  s.spawn([&] {
    while (scheduler::current()->running_threads() > 1)
      if (model::rests(device.step())) scheduled_platform::yield();
  });
  CMDQ_CHECK(s.run() == scheduler::ending::finished);
  std::set<std::uint64_t> told;
  for (const command& x : seen) {
    if (opcode_of(x.word[0]) == opcode_sync) continue;
    CMDQ_CHECK_EQ(x.word[0], 0x12U);
    CMDQ_CHECK(told.insert(x.word[1]).second);
  }
  CMDQ_CHECK_EQ(told.size(), std::size_t{producers} * c.lists);
  CMDQ_CHECK_EQ(device.read_gerror(), device.read_gerrorn());
}

template <class Allocation>
void under_any_interleaving() {
  property([] {
    switching_case c;
    c.lists = *rc::gen::inRange(1U, 8U);
    c.msi_late_steps = *rc::gen::inRange(0U, 40U);
    c.cons_every = *rc::gen::inRange(1U, 5U);
    c.modes = *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>());
    c.interleaving = *rc::gen::container<choices>(rc::gen::arbitrary<std::uint8_t>());
    run<Allocation>(c);
  });
}

}  // namespace

CMDQ_TEST(automatic_switches_while_others_insert_cmpxchg_loop) { under_any_interleaving<allocation::cmpxchg_loop>(); }
CMDQ_TEST(automatic_switches_while_others_insert_owner_bits) { under_any_interleaving<allocation::owner_bits>(); }
CMDQ_TEST(automatic_switches_while_others_insert_combining) { under_any_interleaving<allocation::combining>(); }

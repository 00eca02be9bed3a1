// SPDX-License-Identifier: BSL-1.0
// What a call leaves that its budget ended, with nobody who comes by later: the step that it waited for is the last
// that anybody does. Then either the one who leaves or the one who takes that step finishes it, edge [H].
#include "../support/fixtures.hpp"

#include <cmdq/allocation/cmpxchg_loop.hpp>
#include <cmdq/allocation/owner_bits.hpp>
#include <cmdq/completion/poll_cons.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/reclaim/counted.hpp>

namespace cmdq::checks {
namespace {

template <class Allocation>
struct leaving_config : ring_config<> {
  using allocation = Allocation;
  using completion = cmdq::completion::poll_cons;
  using reclaim = reclaim::counted;
};

/// Each thread inserts one list that it does not wait for, and never waits: a thread that has
/// yielded since it saw a value is not given it again, and here it has to be.
template <class Allocation, unsigned Producers, unsigned Groups>
struct handed_on : scenario {
  using queue_type = command_queue<prod_only_device, leaving_config<Allocation>>;

  ring_storage memory;
  prod_only_device device;
  queue_type queue{plan<P>{{.log2_size = 4,
                            .batch_limit = 1,
                            .producers = Producers,
                            .deadline_ns = 0,
                            .groups = Groups,
                            .cpus_per_group = 2},
                           memory.at_device_address(ring_address)},
                   device};
  typename queue_type::producer producers[Producers];

  handed_on() {
    for (auto& p : producers) check(queue.attach(p) == status::ok, "as many producers as options.producers can attach");
  }
  void thread(unsigned index) override {
    const command c{{0x11, index}};
    const outcome o = producers[index].insert(&c, 1);
    check(o.ok() || o.code == status::timeout, "a call ends well, or by its deadline");
  }
  void finish() override { check(device.last() == Producers, "the device was told everything"); }
};

#define CMDQ_HANDED_ON "what a call has left is finished, although nobody comes by later"

struct handed_on_cmpxchg_loop : handed_on<allocation::cmpxchg_loop, 2, 1> {
  static constexpr facts about{.name = "handed_on/cmpxchg_loop",
                               .proves = CMDQ_HANDED_ON,
                               .bounds = "2 producers, 1 list of 1, each gives up at once",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
};
struct handed_on_owner_bits : handed_on<allocation::owner_bits, 2, 1> {
  static constexpr facts about{.name = "handed_on/owner_bits",
                               .proves = CMDQ_HANDED_ON,
                               .bounds = "2 producers, 1 list of 1, each gives up at once",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
};
struct handed_on_combining : handed_on<allocation::combining, 2, 1> {
  static constexpr facts about{.name = "handed_on/combining",
                               .proves = CMDQ_HANDED_ON,
                               .bounds = "2 producers, 1 list of 1, each gives up at once",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
};
struct handed_on_grouped : handed_on<allocation::combining, 2, 2> {
  static constexpr facts about{.name = "handed_on/combining_grouped",
                               .proves = CMDQ_HANDED_ON,
                               .bounds = "2 producers of one group, 1 list of 1, each gives up at once",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
};
struct handed_on_grouped_random : handed_on<allocation::combining, 2, 2> {
  static constexpr facts about{.name = "handed_on/combining_grouped_random",
                               .proves = CMDQ_HANDED_ON ", with values older than one store",
                               .bounds = "2 producers of one group, 1 list of 1, each gives up at once",
                               .threads = 2,
                               .how = schedule::random,
                               .iterations = 60000};
};

/// A leader that has all the time in the world waits for its member's entries, and for nothing else.
struct patient_leader : scenario {
  static constexpr facts about{.name = "handed_on/combining_grouped_patient",
                               .proves = "a leader without a deadline does not wait for ever for a member that gave up",
                               .bounds = "2 producers of one group, 1 list of 1, one of which gives up at once",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
  using queue_type = command_queue<prod_only_device, leaving_config<allocation::combining>>;

  ring_storage memory;
  prod_only_device device;
  queue_type queue{plan<P>{{.log2_size = 4,
                            .batch_limit = 1,
                            .producers = 2,
                            .deadline_ns = no_deadline,
                            .groups = 2,
                            .cpus_per_group = 2},
                           memory.at_device_address(ring_address)},
                   device};
  queue_type::producer producers[2];

  patient_leader() {
    for (auto& p : producers) check(queue.attach(p) == status::ok, "as many producers as options.producers can attach");
  }
  void thread(unsigned index) override {
    const command c{{0x11, index}};
    if (index == 0) {
      check(producers[0].insert(&c, 1).ok(), "a call without a deadline ends well");
    } else {
      check(producers[1].issue_for(&c, 1, 0).code == status::timeout, "the device does nothing");
    }
  }
  void finish() override { check(device.last() == 3, "the device was told everything, and a CMD_SYNC"); }
};
const registration<patient_leader> r6;

const registration<handed_on_cmpxchg_loop> r1;
const registration<handed_on_owner_bits> r2;
const registration<handed_on_combining> r3;
const registration<handed_on_grouped> r4;
const registration<handed_on_grouped_random> r5;

}  // namespace
}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
// Sleeping and waking: a lost wake-up is a deadlock here, since nothing else ends a sleep.
#include "parking_scenarios.hpp"

namespace cmdq::checks {
namespace {

struct park_one_sleeper : parking<wait::park::channel<P>, 1> {
  static constexpr facts about{.name = "park/one_sleeper",
                               .proves = "a sleeper sees the new value or is woken",
                               .bounds = "1 sleeper, 1 waker",
                               .threads = 2,
                               .how = schedule::full};
};
struct park_two_sleepers : parking<wait::park::channel<P>, 2> {
  static constexpr facts about{.name = "park/two_sleepers",
                               .proves = "all sleepers see the new value or are woken",
                               .bounds = "2 sleepers, 1 waker",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 3};
};

const registration<park_one_sleeper> r1;
const registration<park_two_sleepers> r2;

const queue_case parked[] = {
    {{"park/queue_owner_bits", "all guarantees of the queue with threads that sleep at once",
      "2 producers, 2 lists of 1, ring of 4, every start", 3, schedule::random},
     {.lists = 2}},
    {{"park/queue_owner_bits_3x1", "all guarantees of the queue with threads that sleep at once",
      "3 producers, 1 list of 1, ring of 8, every start", 4, schedule::random},
     {.log2 = 3, .producers = 3}},
};
const queue_case parked_combining[] = {
    {{"park/queue_combining", "all guarantees of the queue with threads that sleep at once",
      "2 producers, 2 lists of 1, ring of 4, every start", 3, schedule::random},
     {.lists = 2}},
    {{"park/queue_combining_grouped", "all guarantees of the queue with threads of one group that sleep at once",
      "2 producers of one group, 2 lists of 1, ring of 4, every start", 3, schedule::random},
     {.lists = 2, .groups = 2}},
    {{"park/queue_combining_grouped_3x1", "all guarantees of the queue with threads of one group that sleep at once",
      "3 producers of one group, 1 list of 1, ring of 8, every start", 4, schedule::random},
     {.log2 = 3, .producers = 3, .groups = 2, .group_size = 3}},
};
using always_counted = reclaim::counted;
const queue_family<
    queue_scenario<checked_config<allocation::owner_bits, completion::poll_msi, always_counted, eager_park>>>
    r3(parked);
const queue_family<
    queue_scenario<checked_config<allocation::combining, completion::poll_cons, always_counted, eager_park>>>
    r4(parked_combining);

}  // namespace
}  // namespace cmdq::checks

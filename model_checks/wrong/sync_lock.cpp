// SPDX-License-Identifier: BSL-1.0
// The sync lock broken in one step each.
#include "../correct/lock_scenarios.hpp"

namespace cmdq::checks {
namespace {

struct wrong_lock_starves : sharer_gets_in<shipped_lock<>> {
  static constexpr facts about{.name = "wrong/lock_unlock_stores_zero_starves",
                               .proves = "L05: exclusive unlock stores 0; a waiting sharer is no longer counted",
                               .bounds = "1 sharer, 2 CPUs that try until it is in",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::livelock,
                               .broken = {site::exclusive_unlock, fault::zeroed}};
};

struct wrong_lock_overtakes : no_overtaking<shipped_lock<noting_wait>, 2> {
  static constexpr facts about{.name = "wrong/lock_unlock_stores_zero_overtakes",
                               .proves = "L05 as a safety property: an exclusive holder overtakes a waiting sharer",
                               .bounds = "1 sharer, 2 CPUs that try twice each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::assertion,
                               .broken = {site::exclusive_unlock, fault::zeroed}};
};

struct wrong_lock_two_steps : sharer_then_exclusive<shipped_lock<>> {
  static constexpr facts about{.name = "wrong/lock_tests_then_takes",
                               .proves = "exclusive lock tests for sharers and takes the lock in two steps",
                               .bounds = "2 threads, 1 acquisition each",
                               .threads = 2,
                               .how = schedule::full,
                               .expected = ending::data_race,
                               .broken = {site::exclusive_lock, fault::lost_update}};
};

struct wrong_lock_heedless : no_overtaking<shipped_lock<noting_wait>, 1> {
  static constexpr facts about{.name = "wrong/lock_sharer_does_not_wait",
                               .proves = "a sharer enters beside an exclusive holder",
                               .bounds = "1 sharer, 2 CPUs that try once each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2,
                               .expected = ending::assertion,
                               .broken = {site::shared_lock, fault::skipped}};
};

const registration<wrong_lock_starves> r1;
const registration<wrong_lock_overtakes> r2;
const registration<wrong_lock_two_steps> r3;
const registration<wrong_lock_heedless> r4;

}  // namespace
}  // namespace cmdq::checks

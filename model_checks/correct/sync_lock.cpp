// SPDX-License-Identifier: BSL-1.0
#include "lock_scenarios.hpp"

namespace cmdq::checks {
namespace {

struct lock_sharer_then_exclusive : sharer_then_exclusive<shipped_lock<>> {
  static constexpr facts about{.name = "lock/sharer_then_exclusive",
                               .proves = "a sharer's last look comes before an exclusive holder's first change",
                               .bounds = "2 threads, 1 acquisition each",
                               .threads = 2,
                               .how = schedule::full};
};

struct lock_exclusive_then_exclusive : exclusive_then_exclusive<shipped_lock<>> {
  static constexpr facts about{.name = "lock/exclusive_then_exclusive",
                               .proves = "exclusive holders are alone and see each other's work",
                               .bounds = "2 threads, 1 acquisition each",
                               .threads = 2,
                               .how = schedule::full};
};

struct lock_no_overtaking : no_overtaking<shipped_lock<noting_wait>, 2> {
  static constexpr facts about{.name = "lock/no_overtaking",
                               .proves = "exclusion, and no exclusive acquisition over a sharer known to wait (L05)",
                               .bounds = "1 sharer, 2 CPUs that try twice each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 3};
};

struct lock_sharer_gets_in : sharer_gets_in<shipped_lock<>> {
  static constexpr facts about{.name = "lock/sharer_gets_in",
                               .proves = "a sharer gets in although two CPUs never stop trying (L05)",
                               .bounds = "1 sharer, 2 CPUs that try until it is in",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 3};
};

struct lock_last_sharer : last_sharer<shipped_lock<>> {
  static constexpr facts about{.name = "lock/last_sharer",
                               .proves = "the last sharer is alone when it moves software CONS",
                               .bounds = "2 sharers, 1 exclusive try",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 4};
};

const registration<lock_sharer_then_exclusive> r1;
const registration<lock_exclusive_then_exclusive> r2;
const registration<lock_no_overtaking> r3;
const registration<lock_sharer_gets_in> r4;
const registration<lock_last_sharer> r5;

}  // namespace
}  // namespace cmdq::checks

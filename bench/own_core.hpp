// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sched.h>

namespace bench {

/// The last processor of those that the program may use, kept from all threads that the calling thread starts while
/// this lives; take() moves its caller there. Without it a producer that shares a processor with a device that never
/// gives way gets a turn every few milliseconds, and the run measures that. Does nothing where there is one processor
/// only.
class own_core {
 public:
  explicit own_core(bool wanted) {
    CPU_ZERO(&before_);
    if (!wanted || sched_getaffinity(0, sizeof before_, &before_) != 0 || CPU_COUNT(&before_) < 2) return;
    mine_ = CPU_SETSIZE - 1;
    while (!CPU_ISSET(mine_, &before_)) --mine_;
    cpu_set_t others = before_;
    CPU_CLR(mine_, &others);
    if (sched_setaffinity(0, sizeof others, &others) != 0) mine_ = -1;
  }
  own_core(const own_core&) = delete;
  own_core& operator=(const own_core&) = delete;
  ~own_core() {
    if (mine_ >= 0) static_cast<void>(sched_setaffinity(0, sizeof before_, &before_));
  }

  void take() const {
    if (mine_ < 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(mine_, &one);
    static_cast<void>(sched_setaffinity(0, sizeof one, &one));
  }

 private:
  cpu_set_t before_;
  int mine_ = -1;
};

}  // namespace bench

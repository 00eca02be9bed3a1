// SPDX-License-Identifier: BSL-1.0
// What the sync lock promises, for any lock that claims to be one.
#pragma once

#include "../support/fixtures.hpp"

#include <cmdq/locks/sync_lock.hpp>

namespace cmdq::checks {

/// A sharer's last look at the ring comes before what a later exclusive holder does to it. Nothing is promised about
/// an earlier one.
template <class Lock>
struct sharer_then_exclusive : scenario {
  Lock lock;
  P::plain<std::uint32_t> slot;
  bool looked = false;

  void thread(unsigned index) override {
    if (index == 0) {
      lock.lock_shared();
      static_cast<void>(slot.get());
      looked = true;
      lock.unlock_shared();
    } else if (lock.try_lock_exclusive()) {
      if (looked) slot.set(1);
      lock.unlock_exclusive();
    }
  }
};

/// What one exclusive holder did is seen by the next.
template <class Lock>
struct exclusive_then_exclusive : scenario {
  Lock lock;
  P::plain<std::uint32_t> moved;

  void thread(unsigned) override {
    while (!lock.try_lock_exclusive()) P::pause(&lock, 0);
    moved.set(moved.get() + 1);
    lock.unlock_exclusive();
  }
  void finish() override { check(moved.get() == 2, "both holders were alone"); }
};

/// A waiter that says when it waits: from then on it is certainly counted.
struct noting_wait {
  static inline bool waiting = false;
  template <class Platform>
  using channel = wait::spin::channel<Platform>;
  template <class Platform>
  struct waiter : wait::spin::waiter<Platform> {
    template <class Blocked>
    void idle(channel<Platform>& where, const void* line, const Blocked& blocked, time_budget<Platform>& budget) {
      waiting = true;
      wait::spin::waiter<Platform>::idle(where, line, blocked, budget);
    }
  };
};

/// Bounded bypass: nobody takes the lock exclusively over a sharer that is known to wait.
template <class Lock, unsigned Acquisitions>
struct no_overtaking : scenario {
  Lock lock;
  unsigned exclusive = 0;
  unsigned shared = 0;

  no_overtaking() { noting_wait::waiting = false; }
  void thread(unsigned index) override {
    if (index == 0) {
      share();
    } else {
      for (unsigned i = 0; i < Acquisitions; ++i) take_once();
    }
  }
  void share() {
    lock.lock_shared();
    noting_wait::waiting = false;
    ++shared;
    check(exclusive == 0, "no exclusive holder beside a sharer");
    P::yield();
    --shared;
    lock.unlock_shared();
  }
  void take_once() {
    if (!lock.try_lock_exclusive()) return P::pause(&lock, 0);
    ++exclusive;
    check(exclusive == 1 && shared == 0, "an exclusive holder is alone");
    check(!noting_wait::waiting, "no exclusive holder overtakes a waiting sharer");
    lock.unlock_exclusive_after([this] { --exclusive; });
  }
};

/// Two CPUs that poll for space take the lock again and again until the sharer has been let in. While they hold it
/// they read the device, which takes long.
template <class Lock>
struct sharer_gets_in : scenario {
  Lock lock;
  bool in = false;

  void thread(unsigned index) override {
    if (index == 0) {
      lock.lock_shared();
      in = true;
      lock.unlock_shared();
      return;
    }
    while (!in) {
      if (lock.try_lock_exclusive()) {
        P::yield();
        lock.unlock_exclusive();
      }
      P::pause(&lock, 0);
    }
  }
};

/// At most one sharer at a time believes to be the last, and only while nobody else holds the lock.
template <class Lock>
struct last_sharer : scenario {
  Lock lock;
  unsigned last = 0;
  unsigned exclusive = 0;

  void thread(unsigned index) override {
    if (index == 2) {
      if (!lock.try_lock_exclusive()) return;
      ++exclusive;
      check(last == 0, "nobody moves CONS beside the exclusive holder");
      lock.unlock_exclusive_after([this] { --exclusive; });
      return;
    }
    lock.lock_shared();
    if (lock.try_unlock_shared()) return;
    ++last;
    check(last == 1 && exclusive == 0, "the last sharer is alone");
    P::yield();
    --last;
    lock.unlock_shared();
  }
};

/// The lock under test, with a way to change bookkeeping in the same instant as the unlock.
template <class Lock>
struct watched : Lock {
  void lock_shared() {
    time_budget<P> forever(no_deadline);
    Lock::lock_shared(1, forever);
  }
  template <class Before>
  void unlock_exclusive_after(const Before& before) {
    before();
    Lock::unlock_exclusive();
  }
};

template <class Wait = wait::spin>
using shipped_lock = watched<locks::sync_lock<P, Wait>>;

}  // namespace cmdq::checks

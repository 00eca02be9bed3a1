// SPDX-License-Identifier: BSL-1.0
// The whole queue with one access, one policy or the device broken.
#include "../correct/timeout_scenario.hpp"

namespace cmdq::checks {
namespace {

constexpr const char* two = "2 producers, 1 list of 1, ring of 4";
constexpr const char* two_twice = "2 producers, 2 lists of 1, ring of 4";
constexpr const char* two_thrice = "2 producers, 3 lists of 1, ring of 4";
constexpr const char* one_illegal = "2 producers, 2 lists of 1, one illegal command, ring of 4";
constexpr auto random = schedule::random;
constexpr auto unsafe = ending::assertion;
constexpr auto stuck = ending::livelock;
constexpr unsigned many = 100000;

// clang-format off
const queue_case cmpxchg[] = {
    {{"wrong/claim_in_two_steps", "cmpxchg_loop's claim is a load and a store: two lists get the same entries", two, 3,
      random, many, 0, unsafe, {site::claim_packed, fault::lost_update}}, {}},
    {{"wrong/turn_not_handed_on", "the owner does not hand the turn on", two_thrice, 3,
      random, many, 0, stuck, {site::told_store, fault::skipped}}, {.lists = 3}},
    {{"wrong/gathering_not_closed", "the owner leaves the owned flag set: later lists have no owner", two_twice, 3,
      random, many, 0, stuck, {site::gather_close, fault::skipped}}, {.lists = 2}},
    {{"wrong/limit_not_stored", "what PROD may be is not noted before PROD: a working device is taken for a lying one",
      two, 3, random, many, 0, unsafe, {site::limit_store, fault::skipped}}, {}},
    {{"wrong/two_error_handlers", "two callers handle one error at once", one_illegal, 3,
      random, many, 0, unsafe, {site::handler_lock, fault::lost_update}}, {.lists = 2, .illegal = 0}},
    {{"wrong/error_not_told", "the error does not reach the caller whose command it was", one_illegal, 3,
      random, many, 0, unsafe, {site::cell_error, fault::skipped}}, {.lists = 2, .illegal = 0}},
};
const queue_case owner_bits[] = {
    {{"wrong/mark_in_two_steps", "a valid bit is set by load and store, so that another CPU's mark is lost", two, 3,
      random, many, 0, stuck, {site::valid_mark, fault::lost_update}}, {}},
    {{"wrong/prod_before_valid", "the owner writes PROD without waiting for its members' entries", two, 3,
      random, many, 0, unsafe, {site::valid_wait, fault::ones}}, {.first = 0}},
    {{"wrong/cons_without_the_devices_word", "software CONS is moved past what the device has consumed", two_thrice, 3,
      random, many, 0, unsafe, {site::cons_advance, fault::ahead}}, {.lists = 3}},
    {{"wrong/cons_not_moved", "a finished list does not move software CONS", two_thrice, 3,
      random, many, 0, stuck, {site::cons_advance, fault::skipped}}, {.lists = 3}},
    {{"wrong/claim_add_in_two_steps", "owner_bits' claim is a load and a store: two lists get the same entries", two, 3,
      random, many, 0, unsafe, {site::claim_add, fault::lost_update}}, {}},
    {{"wrong/more_than_a_lap", "L11: producers x longest list exceeds the ring, unchecked",
      "3 producers, 1 list of 1, ring of 4", 4, random, many, 0, stuck}, {.producers = 3, .unchecked = true}},
    {{"wrong/device_cons_before_fetch", "a device that gives entries back before it has read them", two_thrice, 3,
      random, many, 0, unsafe}, {.lists = 3, .device = {.cons_before_fetch = true}}},
};
const queue_case msi[] = {
    {{"wrong/msi_before_effects", "a device that signals a CMD_SYNC before the effects", two, 3,
      random, many, 0, unsafe}, {.device = {.defer_effects = true, .msi_before_effects = true}}},
    {{"wrong/done_without_msi", "a CMD_SYNC counts as done before the device has said so", two, 3,
      random, many, 0, unsafe, {site::msi_poll, fault::zeroed}}, {}},
};
const queue_case combining[] = {
    {{"wrong/range_end_not_stored", "combining: nobody can tell where the range ends that the device has passed",
      two_twice, 3, random, many, 0, stuck, {site::range_end_store, fault::skipped}}, {.lists = 2}},
};
// clang-format on

/// L02: the position to wait for is drawn before the claim. Another list may come between.
struct drawn_before_claim : allocation::cmpxchg_loop {
  template <class Ring, class Sync, class Reclaim>
  class state : public allocation::cmpxchg_loop::state<Ring, Sync, Reclaim> {
    using base = allocation::cmpxchg_loop::state<Ring, Sync, Reclaim>;

   public:
    using base::base;
    using typename base::who;
    status reserve(std::uint32_t n, intent what, written how, who& w, reservation& r) noexcept {
      drawn_[P::index()] = this->claimed();
      return base::reserve(n, what, how, w, r);
    }
    status complete(reservation& r, who& w) noexcept {
      reservation early = r;
      early.start = drawn_[P::index()];
      early.done_at -= r.start - early.start;
      return base::complete(early, w);
    }

   private:
    position drawn_[max_threads] = {};
  };
};
const queue_case early_number[] = {
    {{"wrong/number_drawn_before_insertion", "L02: the completion number is drawn before the insertion", two_twice, 3,
      random, many, 0, unsafe},
     {.lists = 2}},
};

/// L13: a member of owner_bits takes the sync lock while it still waits for space.
struct locks_before_space {
  template <class Platform, class Wait>
  class state : public reclaim::sync_locked::state<Platform, Wait> {
    using base = reclaim::sync_locked::state<Platform, Wait>;

   public:
    template <class Allocation>
    void offer(Allocation& allocation, position cons) noexcept {
      bool& locked = locked_[P::index()];
      time_budget<Platform> forever(no_deadline);
      if (!locked) base::enter(1, forever);
      locked = true;
      base::offer(allocation, cons);
    }

   private:
    bool locked_[max_threads] = {};
  };
};
const queue_case carry[] = {
    {{"wrong/carry_reaches_counters",
      "L12: the position's carry reaches the count of gathered syncs",
      "2 producers, 3 lists of 1, ring of 4, start at 2^32 - 1",
      3,
      random,
      many,
      0,
      stuck,
      {site::claim_add, fault::carry}},
     {.first = 0xffffffffU, .lists = 3}},
};
const queue_case member_locks[] = {
    {{"wrong/member_locks_before_space", "L13: a member takes the sync lock itself, before it has space",
      "2 producers, 3 lists of 1, ring of 4", 3, random, many, 0, stuck},
     {.lists = 3}},
};

/// A sync that does not take the lock it will give back.
struct without_shared_lock {
  template <class Platform, class Wait>
  struct state : reclaim::sync_locked::state<Platform, Wait> {
    void enter(std::uint32_t, time_budget<Platform>&) noexcept {}
  };
};
const queue_case unlocked[] = {
    {{"wrong/sync_without_the_shared_lock", "a sync leaves the sync lock without having entered it",
      "2 producers, 3 lists of 1, ring of 4", 3, random, many, 0, stuck},
     {.lists = 3}},
};

/// The sync lock is taken only once a sync is seen done, not before its entries are valid. Where each sync takes it for
/// itself (cmpxchg_loop) that breaks nothing here; an owner that takes it for its members comes too late for them.
struct locks_late {
  template <class Platform, class Wait>
  class state : public reclaim::sync_locked::state<Platform, Wait> {
    using base = reclaim::sync_locked::state<Platform, Wait>;

   public:
    void enter(std::uint32_t n, time_budget<Platform>&) noexcept { owed_[P::index()] += n; }
    template <class Allocation>
    void leave(Allocation& allocation, position cons) noexcept {
      std::uint32_t& n = owed_[P::index()];
      time_budget<Platform> forever(no_deadline);
      if (n != 0) base::enter(n, forever);
      n = 0;
      base::leave(allocation, cons);
    }

   private:
    std::uint32_t owed_[max_threads] = {};
  };
};
const queue_case late_lock[] = {
    {{"wrong/lock_after_valid", "the sync lock is taken after the entries are valid: a member leaves uncounted",
      "2 producers, 2 unsynced lists and a synced one, ring of 8", 3, random, many, 0, stuck},
     {.log2 = 3, .lists = 3, .unsynced = true}},
};

/// Whoever waits for space takes it at once.
struct takes_space {
  template <class Platform, class Wait>
  struct state : reclaim::counted::state<Platform, Wait> {
    template <class Allocation>
    void offer(Allocation& allocation, position) noexcept {
      allocation.advance(allocation.claimed());
    }
  };
};
const queue_case unchecked[] = {
    {{"wrong/space_not_checked", "entries are written before the device has consumed the old ones",
      "2 producers, 2 unsynced lists and a synced one, ring of 4", 3, random, many, 0, unsafe},
     {.lists = 3, .unsynced = true}},
};

/// A CMD_SYNC that names the next entry as its completion word.
struct wrong_target : completion::poll_msi {
  template <class Ring>
  static constexpr command sync_for(const Ring& ring, position p) noexcept {
    return make_msi_sync(ring_address + (ring.device_address(p) - ring_address + 16) % 64, 0);
  }
};
const queue_case msi_target[] = {
    {{"wrong/msi_into_the_next_entry", "the completion is written into another list's entry", two_twice, 3, random,
      many, 0, stuck},
     {.lists = 2}},
};

/// L07, L64: a waiter that never looks at the clock.
struct without_clock {
  template <class Platform>
  using channel = wait::spin::channel<Platform>;
  template <class Platform>
  struct waiter : wait::spin::waiter<Platform> {
    [[nodiscard]] bool clock_due() const noexcept { return false; }
  };
};
const queue_case clockless[] = {
    {{"wrong/deadline_not_looked_at", "L64: a waiter never looks at the clock while the device stands still",
      "2 producers, a device that stands still, ring of 4", 3, random, many, 0, stuck},
     stalled},
};

using counted = reclaim::counted;
using cons = completion::poll_cons;
const queue_family<queue_scenario<checked_config<allocation::cmpxchg_loop>>> r1(cmpxchg);
const queue_family<queue_scenario<checked_config<allocation::owner_bits>>> r2(owner_bits);
const queue_family<queue_scenario<checked_config<allocation::owner_bits, completion::poll_msi>>> r3(msi);
const queue_family<queue_scenario<checked_config<allocation::combining>>> r4(combining);
const queue_family<queue_scenario<checked_config<drawn_before_claim>>> r5(early_number);
const queue_family<queue_scenario<checked_config<allocation::owner_bits, cons, locks_before_space>>> r6(member_locks);
const queue_family<queue_scenario<checked_config<allocation::owner_bits, cons, reclaim::sync_locked>>> r10(carry);
const queue_family<queue_scenario<checked_config<allocation::cmpxchg_loop, cons, without_shared_lock>>> r7(unlocked);
const queue_family<queue_scenario<checked_config<allocation::owner_bits, wrong_target>>> r8(msi_target);
const queue_family<queue_scenario<checked_config<allocation::cmpxchg_loop, cons, takes_space>>> r9(unchecked);
const queue_family<queue_scenario<checked_config<allocation::owner_bits, cons, locks_late>>> r12(late_lock);
const queue_family<timeout_scenario<checked_config<allocation::owner_bits, cons, counted, without_clock>>> r11(
    clockless);

}  // namespace
}  // namespace cmdq::checks

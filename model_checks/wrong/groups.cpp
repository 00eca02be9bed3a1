// SPDX-License-Identifier: BSL-1.0
// Combining in groups of threads with one access, or one step of the ring below it, broken.
#include "../correct/gone_scenario.hpp"

namespace cmdq {
namespace checks {
namespace {

using combining_config = checked_config<allocation::combining>;
/// Names of the rings below.
struct hands_over_early : combining_config {};
struct looks_for_no_space : combining_config {};

}  // namespace
}  // namespace checks

/// Where the owner waits for other CPUs' entries before it has the turn, it waits only once it has it: a leader does so
/// before it hands over the turn of its group.
template <class Device>
class ring<Device, checks::hands_over_early> : public ring<Device, checks::combining_config> {
  using base = ring<Device, checks::combining_config>;

 public:
  using base::base;
  using typename base::who;

  bool await_valid(position& from, position to, who& w) {
    waits& mine = waits_[checks::P::index()];
    if (mine.in_turn) return base::await_valid(from, to, w);
    mine.from = from;
    mine.to = to;
    from = to;
    return true;
  }
  bool await_turn(position start, who& w) {
    waits& mine = waits_[checks::P::index()];
    if (passed(mine.from, start)) base::await_valid(mine.from, mine.to, w);
    mine.in_turn = base::await_turn(start, w);
    return mine.in_turn;
  }
  void tell(position start, position end, who& w) {
    base::tell(start, end, w);
    waits_[checks::P::index()].in_turn = false;
  }

 private:
  struct waits {
    position from = 0;
    position to = 0;
    bool in_turn = false;
  };
  waits waits_[checks::max_threads];
};

/// All entries are free at all times.
template <class Device>
class ring<Device, checks::looks_for_no_space> : public ring<Device, checks::combining_config> {
  using base = ring<Device, checks::combining_config>;

 public:
  using base::base;
  [[nodiscard]] uint32_t capacity() const noexcept { return 1U << 30; }
};

namespace checks {
namespace {

/// A member that waits for another CPU's word alone.
struct without_device {
  template <class Platform>
  using channel = wait::spin::channel<Platform>;
  template <class Platform>
  struct waiter : wait::spin::waiter<Platform> {
    [[nodiscard]] bool clock_due() const noexcept { return false; }
  };
};
using without_device_config =
    checked_config<allocation::combining, completion::poll_cons, reclaim::counted, without_device>;

constexpr const char* two_twice = "2 producers of one group, 2 lists of 1, ring of 4";
constexpr auto random = schedule::random;
constexpr auto unsafe = ending::assertion;
constexpr auto stuck = ending::livelock;
constexpr unsigned many = 100000;

// clang-format off
const queue_case sites[] = {
    {{"wrong/group_claim_not_closed", "the leader leaves the group's claim open: later lists have no leader",
      two_twice, 3, random, many, 0, stuck, {site::gather_close, fault::kept}}, {.lists = 2, .groups = 2}},
    {{"wrong/group_not_opened", "the leader does not say where its members' lists are", two_twice, 3,
      random, many, 0, stuck, {site::group_open, fault::skipped}}, {.lists = 2, .groups = 2}},
    {{"wrong/group_place_read_too_early",
      "a member reads its place before the leader has it, and before there is space",
      two_twice, 3, random, many, 0, unsafe, {site::group_opened, fault::zeroed}},
     {.first = 0xfffffff0U, .lists = 2, .groups = 2}},
    {{"wrong/group_turn_not_handed_on", "the leader does not hand the group's turn on", two_twice, 3,
      random, many, 0, stuck, {site::group_hand_over, fault::skipped}}, {.lists = 2, .groups = 2}},
    {{"wrong/group_joined_in_two_steps", "who joins a group loads and stores: two lists get the same place",
      two_twice, 3, random, many, 0, unsafe, {site::claim_add, fault::lost_update}}, {.lists = 2, .groups = 2}},
    {{"wrong/range_closed_in_two_steps", "combining: the owner closes its range by load and store: who joins is lost",
      "2 producers, 2 lists of 1, ring of 4", 3,
      random, many, 0, unsafe, {site::gather_close, fault::lost_update}}, {.lists = 2}},
};
const queue_case early[] = {
    {{"wrong/group_handed_over_too_early", "the leader hands the group's turn on before its members' entries are valid",
      "3 producers of one group, 1 list of 1, ring of 8", 4, random, many, 0, unsafe},
     {.log2 = 3, .producers = 3, .groups = 2, .group_size = 3}},
};
const queue_case unlooked[] = {
    {{"wrong/group_opened_without_space", "the leader opens its claim without seeing that the entries are free",
      "2 producers of two groups, 2 lists of 1, ring of 4, start at 0", 3, schedule::bounded, 0, 1, unsafe},
     {.first = 0, .lists = 2, .groups = 2, .group_size = 1}},
};
const queue_case gone[] = {
    {{"wrong/device_not_looked_at", "a member waits for ever for a device that is gone: it looks at software CONS only",
      "2 producers of one group, 3 lists of 1, gone after 3 commands, ring of 4", 3, random, many, 0, stuck},
     {.lists = 3, .groups = 2, .device = {.gone_after = 3}}},
};
// clang-format on
const queue_family<queue_scenario<combining_config>> r1(sites);
const queue_family<queue_scenario<hands_over_early>> r2(early);
const queue_family<queue_scenario<looks_for_no_space>> r3(unlooked);
const queue_family<gone_scenario<without_device_config>> r4(gone);

}  // namespace
}  // namespace checks
}  // namespace cmdq

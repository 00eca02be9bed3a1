// SPDX-License-Identifier: BSL-1.0
// Gathering near the CPUs, before the ring. Lists of one group get positions in the group by one fetch-add on a word
// near them; the first of them leads: it claims for all in the ring and says where they are. So the ring's claim word
// is left to leaders (and to lone CMD_SYNCs and in-place writers), and most cache lines of entries come from one group.
#pragma once

#include <cmdq/allocation/reservation.hpp>
#include <cmdq/core/offset_ptr.hpp>
#include <cmdq/queue/options.hpp>
#include <cmdq/wait/await.hpp>

namespace cmdq::allocation {

template <class Ring>
class gathering {
 public:
  using P = typename Ring::P;
  using group = gather_group<P>;

  explicit gathering(Ring& ring) noexcept
      : groups_(ring.groups()), count_(groups_in_use(ring.opts())), cpus_per_group_(ring.opts().cpus_per_group) {
    const position first = ring.opts().first;
    for (uint32_t i = 0; in_use() && i < count_; ++i) {
      groups_[i].word.store(uint64_t{first} << 32, at<site::setup>);
      groups_[i].opened.store(first, at<site::setup>);
      groups_[i].turn.store(first, at<site::setup>);
      groups_[i].claimed.set(first);
      groups_[i].looked.set(first);
      groups_[i].done.store(first, at<site::setup>);
    }
    // A platform may look up its CPUs at the first call: not inside a signal handler.
    if constexpr (counted_platform<P>) static_cast<void>(in_use() && mine() != 0);
  }

  [[nodiscard]] bool in_use() const noexcept { return count_ > 1; }
  /// Number of the group of the CPU that asks.
  [[nodiscard]] uint8_t mine() const noexcept {
    if constexpr (placed_platform<P>)
      return static_cast<uint8_t>(P::index() / cpus_per_group_ % count_);
    else
      return 0;
  }
  [[nodiscard]] typename P::template atomic<position>& done(uint8_t i) noexcept { return groups_[i].done; }

  /// Adds a list of `n` > 0 commands to the group's next claim; `gathered` as in the claim word. Returns the word
  /// before it. Wait-free.
  uint64_t join(uint8_t i, uint32_t n, uint64_t gathered) noexcept {
    return groups_[i].word.fetch_add((uint64_t{n} << 32) | gathered, at<site::claim_add>);
  }

  /// [G] Waits until the leader of the member's list [local, local + n) has said its place in the ring; false when the
  /// budget ends first.
  bool await_place(uint8_t i, position local, uint32_t n, time_budget<P>& budget) noexcept {
    const auto said = [=](position to) { return reached(to, local + n); };
    return await<P, typename Ring::wait_policy>(members_, groups_[i].opened, at<site::group_opened>, said, budget);
  }
  /// That place. Until the member's entries are valid no other claim of the group is opened.
  [[nodiscard]] position place_of(uint8_t i, position local) const noexcept { return local + groups_[i].shift.get(); }

  /// [G] Leader: waits for its turn; false when the budget ends first.
  bool await_turn(uint8_t i, position local, time_budget<P>& budget) noexcept {
    const auto mine = [=](position t) { return t == local; };
    return await<P, typename Ring::wait_policy>(leaders_, groups_[i].turn, at<site::group_turn>, mine, budget);
  }
  /// Leader, in its turn: ends the claim. Returns the word: end of its lists, and what they gathered.
  uint64_t close(uint8_t i) noexcept { return groups_[i].word.fetch_and(~uint64_t{0} << 32, at<site::gather_close>); }

  /// [G] Leader: the lists from `local` up to `to` are at `start` in the ring, and their entries are free.
  void open(uint8_t i, position local, position to, position start) noexcept {
    groups_[i].shift.set(start - local);
    groups_[i].opened.store(to, at<site::group_open>);
    members_.wake();
  }

  /// Leader, in its turn, of the claim [start, end) in the ring, with its CMD_SYNC: must it look how old done() is?
  /// After so many entries without a look, or without a claim: that includes multiples of 2^32, after which the claim
  /// seems to lie before the end of the last one. done() is never beyond that end, so without a look it is behind
  /// `start`.
  bool look_due(uint8_t i, position start, position end) noexcept {
    constexpr uint32_t often = 1U << 29;
    group& g = groups_[i];
    const bool due = start - g.claimed.get() >= often || start - g.looked.get() >= often;
    g.claimed.set(end);
    if (due) g.looked.set(start);
    return due;
  }

  /// [G] Leader: all its members' entries are valid, so they know their places: the next leader may say others.
  void hand_over(uint8_t i) noexcept {
    const position to = groups_[i].opened.load(at<site::group_look>);  // its own store
    groups_[i].turn.store(to, at<site::group_hand_over>);
    leaders_.wake();
  }

 private:
  /// Where each list has a CMD_SYNC of its own there is nothing to share.
  static constexpr uint32_t groups_in_use(const options_for<typename Ring::family>& o) noexcept {
    return o.sync_every_batch ? 1 : o.groups;
  }

  const offset_ptr<group> groups_;
  const uint32_t count_;
  const uint32_t cpus_per_group_;
  typename Ring::channel members_;
  typename Ring::channel leaders_;
};

}  // namespace cmdq::allocation

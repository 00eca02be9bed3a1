// SPDX-License-Identifier: BSL-1.0
// What a call whose budget ended could not finish: left in its producer's cell, finished by whoever comes by.
//
// A claim cannot be taken back. Whoever claimed and has to wait for another CPU before its entries are told (for its
// turn, for its members, for its leader) leaves the rest of its duty here when its budget ends. Every step of a duty
// has one condition that some other CPU makes true; that CPU looks here afterwards (left_count() != 0), so that the
// duty is finished as soon as it can be, whoever is around. Dekker's pattern, edge [H]: the leaver counts, then looks
// at its condition; the other makes the condition true, then looks at the count. Both sequentially consistent.
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq {

/// How far the duty of a claim has come.
enum class duty_step : uint8_t {
  none,     ///< nothing is left
  lead,     ///< leader of a group: to claim for it, in its turn
  open,     ///< leader: to tell its members their places, once the entries are free
  place,    ///< member of a group: to be told its place
  room,     ///< to fill the claimed entries with commands that do nothing, once they are free
  members,  ///< leader: to hand the group over, once its members' entries are valid
  turn,     ///< owner of a range: to close it, in its turn
  valid,    ///< owner: to wait until its members' entries are valid
  seal,     ///< owner: to put the CMD_SYNC where one is shared, and to tell the device
  unlock,   ///< reclaim::sync_locked: to leave the lock, once the range's owner has entered it
};

/// The duty of a claim. Positions are those of the ring unless said otherwise.
struct duty {
  duty_step step = duty_step::none;
  bool owner = false;      ///< a range of the ring is to be told
  bool synced = false;     ///< that range ends, or is to end, in a CMD_SYNC that it shares
  bool unwritten = false;  ///< the caller's own entries are to be filled with commands that do nothing
  bool counted = false;    ///< its owner enters the lock for it: somebody has to leave it
  bool keeps = false;      ///< owner who waits: may keep its range open for others
  uint8_t group = 0;
  position start = 0;    ///< own entries [start, start + n); the range starts there, too
  uint32_t n = 0;        ///< own entries
  position known = 0;    ///< valid up to here
  position end = 0;      ///< of the lists in the range or the group's claim
  position local = 0;    ///< in the group
  uint32_t group_n = 0;  ///< entries of the group's claim
  uint32_t syncs = 0;    ///< syncs in the range that wait, with reclaim::sync_locked
};

/// The place for one duty. Plain data belongs to whoever has moved `state` to busy.
template <class P>
class left_work {
 public:
  [[nodiscard]] bool any() const noexcept { return state_.load(at<site::left_look>) != none; }

  /// The duty's caller leaves it. Precondition: !any().
  void leave(const duty& d) noexcept {
    put(d);
    state_.store(left, at<site::left_put>);
  }
  /// Takes it, if there is one that nobody has. Who has it looks once more before putting it back.
  bool take(duty& d) noexcept {
    uint32_t seen = state_.load(at<site::left_look>);
    while (seen != none) {
      if (seen == left && state_.compare_exchange(seen, busy, at<site::left_take>)) {
        d = get();
        return true;
      }
      if (seen == again || (seen == busy && state_.compare_exchange(seen, again, at<site::left_take>))) return false;
    }
    return false;
  }
  /// Puts back what is not finished; false: look at its condition again, somebody came by meanwhile.
  bool put_back(const duty& d) noexcept {
    put(d);
    uint32_t seen = busy;
    if (state_.compare_exchange(seen, left, at<site::left_put>)) return true;
    static_cast<void>(state_.exchange(busy, at<site::left_again>));
    return false;
  }
  /// It is finished; `d` stays readable for its producer: where its entries were.
  void finish(const duty& d) noexcept {
    put(d);
    state_.store(none, at<site::left_put>);
  }
  /// Of the producer, once !any().
  [[nodiscard]] duty finished() const noexcept { return get(); }

  void reset() noexcept { state_.store(none, at<site::setup>); }

 private:
  static constexpr uint32_t none = 0, left = 1, busy = 2, again = 3;

  void put(const duty& d) noexcept {
    const uint64_t flags = static_cast<uint64_t>(d.step) | uint64_t{d.owner} << 8 | uint64_t{d.synced} << 9 |
                           uint64_t{d.unwritten} << 10 | uint64_t{d.keeps} << 11 | uint64_t{d.counted} << 12 |
                           uint64_t{d.group} << 16;
    word_[0].set(flags | static_cast<uint64_t>(d.syncs) << 32);
    word_[1].set(static_cast<uint64_t>(d.start) << 32 | d.n);
    word_[2].set(static_cast<uint64_t>(d.known) << 32 | d.end);
    word_[3].set(static_cast<uint64_t>(d.local) << 32 | d.group_n);
  }
  [[nodiscard]] duty get() const noexcept {
    const uint64_t w[] = {word_[0].get(), word_[1].get(), word_[2].get(), word_[3].get()};
    duty d;
    d.step = static_cast<duty_step>(w[0] & 0xffU);
    d.owner = (w[0] >> 8 & 1U) != 0;
    d.synced = (w[0] >> 9 & 1U) != 0;
    d.unwritten = (w[0] >> 10 & 1U) != 0;
    d.keeps = (w[0] >> 11 & 1U) != 0;
    d.counted = (w[0] >> 12 & 1U) != 0;
    d.group = static_cast<uint8_t>(w[0] >> 16);
    d.syncs = static_cast<uint32_t>(w[0] >> 32);
    d.start = static_cast<position>(w[1] >> 32);
    d.n = static_cast<uint32_t>(w[1]);
    d.known = static_cast<position>(w[2] >> 32);
    d.end = static_cast<position>(w[2]);
    d.local = static_cast<position>(w[3] >> 32);
    d.group_n = static_cast<uint32_t>(w[3]);
    return d;
  }

  typename P::template atomic<uint32_t> state_;
  typename P::template plain<uint64_t> word_[4];
};

}  // namespace cmdq

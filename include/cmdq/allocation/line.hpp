// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/ring.hpp>

namespace cmdq::allocation {

/// Those who wait for space, first come, first served: whoever finds the line empty need not stand in it. Who leaves
/// before its turn, at its deadline, marks its cell, and whoever hands the turn on skips it.
template <class Ring>
class line {
 public:
  using P = typename Ring::P;
  using who = typename Ring::who;
  using cell_type = producer_cell<P>;

  explicit line(Ring& ring) noexcept : ring_(ring) {}

  /// Nobody stands in line. Cost: one load of a word that changes only while somebody has to wait.
  [[nodiscard]] bool empty() const noexcept {
    const uint64_t w = word_.load(at<site::line_look>);
    return next_of(w) == serving_of(w);
  }
  /// Takes a place at the end, or the one that this producer left at an earlier call and nobody has skipped yet.
  /// Wait-free.
  uint32_t enter(cell_type& cell) noexcept {
    uint64_t mark = cell.left_line.load(at<site::line_mark_look>);
    if (mark != 0 && cell.left_line.compare_exchange(mark, 0, at<site::line_mark>)) {
      gone_.fetch_add(~0U, at<site::line_gone>);
      return static_cast<uint32_t>(mark);
    }
    return next_of(word_.fetch_add(uint64_t{1} << 32, at<site::line_enter>));
  }
  [[nodiscard]] bool is_turn(uint32_t place) const noexcept {
    return serving_of(word_.load(at<site::line_turn>)) == place;
  }
  [[nodiscard]] const void* word() const noexcept { return &word_; }

  /// Whose turn it is goes: the next one's turn.
  void leave(uint32_t place) noexcept { skip(move_on(place)); }

  /// Goes before its turn. [H] The mark, then the look at whose turn it is; leave() does it the other way round.
  void give_up(uint32_t place, cell_type& cell) noexcept {
    cell.left_line.store(marked | place, at<site::line_mark>);
    gone_.fetch_add(1, at<site::line_gone>);
    skip(serving_of(word_.load(at<site::line_again>)));
  }

 private:
  static constexpr uint64_t marked = uint64_t{1} << 32;
  static constexpr uint32_t next_of(uint64_t w) noexcept { return static_cast<uint32_t>(w >> 32); }
  static constexpr uint32_t serving_of(uint64_t w) noexcept { return static_cast<uint32_t>(w); }

  uint32_t move_on(uint32_t place) noexcept {
    uint64_t w = word_.load(at<site::line_look>);
    while (serving_of(w) == place) {
      const uint64_t next = (w & ~uint64_t{0xffffffff}) | static_cast<uint32_t>(place + 1);
      if (word_.compare_exchange(w, next, at<site::line_leave>)) return place + 1;
    }
    return serving_of(w);
  }

  /// Moves on as long as the one whose turn it is has gone.
  void skip(uint32_t serving) noexcept {
    while (gone_.load(at<site::line_gone_look>) != 0 && has_gone(serving)) {
      gone_.fetch_add(~0U, at<site::line_gone>);
      serving = move_on(serving);
    }
  }
  [[nodiscard]] bool has_gone(uint32_t place) noexcept {
    for (uint32_t i = 0; i < ring_.opts().producers; ++i) {
      uint64_t mark = ring_.cell(i).left_line.load(at<site::line_mark_look>);
      if (mark == (marked | place) && ring_.cell(i).left_line.compare_exchange(mark, 0, at<site::line_mark>))
        return true;
    }
    return false;
  }

  Ring& ring_;
  alignas(64) typename Ring::template atomic<uint64_t> word_;  ///< next place (upper half), and whose turn it is
  typename Ring::template atomic<uint32_t> gone_;              ///< marks of those who have gone
};

}  // namespace cmdq::allocation

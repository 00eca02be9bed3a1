// SPDX-License-Identifier: BSL-1.0
// Rings that are wrong in one step each.
#include "../correct/ring_scenarios.hpp"

namespace cmdq::checks {
namespace {

template <class C>
using shipped = ring<prod_only_device, C>;

/// Marks are set by load and store: another CPU's mark in the same word can be lost.
template <class C>
struct marks_by_store : shipped<C> {
  using base = shipped<C>;
  plan<P> kept;
  marks_by_store(prod_only_device& d, const plan<P>& p) : base(d, p), kept(p) {}
  void mark_valid(position from, position to) {
    const valid_span s = first_span(base::shape(), from, to);
    auto& word = kept.memory.valid[s.word];
    const std::uint32_t seen = word.load(at<site::valid_wait>);
    word.store(seen ^ s.mask, at<site::valid_mark>);
  }
};
struct wrong_valid_marks_by_store : valid_bits<marks_by_store, 2, 0> {
  static constexpr facts about{.name = "wrong/valid_marks_by_store",
                               .proves = "a mark is set by load and store, so that another CPU's mark is lost",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 4",
                               .threads = 3,
                               .how = schedule::bounded,
                               .expected = ending::livelock};
};

/// The value of "valid" does not change with the lap.
template <class C>
struct valid_is_one : shipped<C> {
  using base = shipped<C>;
  plan<P> kept;
  valid_is_one(prod_only_device& d, const plan<P>& p) : base(d, p), kept(p) {}
  void wait_valid(position from, position to) {
    for (; from != to; ++from) {
      const valid_span s = first_span(base::shape(), from, from + 1);
      while ((kept.memory.valid[s.word].load(at<site::valid_wait>) & s.mask) == 0) P::pause(nullptr, 0);
    }
  }
};
struct wrong_valid_is_one : valid_bits<valid_is_one, 2, 3> {
  static constexpr facts about{.name = "wrong/valid_is_one_on_every_lap",
                               .proves = "the wrap bit is left out of what \"valid\" means: a stale mark counts",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 4 at position 7",
                               .threads = 3,
                               .how = schedule::bounded,
                               .expected = ending::livelock};
};

/// The owner does not wait for its predecessor.
template <class C>
struct no_turn : shipped<C> {
  using shipped<C>::shipped;
  void take_turn(position) {}
};
struct wrong_turn_not_taken : owners_turn<no_turn, 3> {
  static constexpr facts about{.name = "wrong/turn_not_waited_for",
                               .proves = "the owner does not wait until its predecessor has told the device",
                               .bounds = "3 owners of 1 entry each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .expected = ending::data_race};
};

const registration<wrong_valid_marks_by_store> r1;
const registration<wrong_valid_is_one> r2;
const registration<wrong_turn_not_taken> r3;

}  // namespace
}  // namespace cmdq::checks

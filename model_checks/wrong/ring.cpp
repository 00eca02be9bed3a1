// SPDX-License-Identifier: BSL-1.0
// The ring broken in one step each.
#include "../correct/ring_scenarios.hpp"

namespace cmdq::checks {
namespace {

template <class C>
using shipped = ring<prod_only_device, C>;

template <class C>
struct without_turn : shipped<C> {
  using shipped<C>::shipped;
  bool await_turn(position, typename shipped<C>::who&) { return true; }
};
struct wrong_turn_not_taken : owners_turn<without_turn, 3> {
  static constexpr facts about{.name = "wrong/turn_not_waited_for",
                               .proves = "the owner does not wait until its predecessor has told the device",
                               .bounds = "3 owners of 1 entry each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .expected = ending::data_race};
};

struct wrong_mark_left_out : valid_bits<shipped, 2, 3> {
  static constexpr facts about{.name = "wrong/mark_left_out",
                               .proves = "an entry is written but never marked: its owner waits for ever",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 4 at position 3",
                               .threads = 3,
                               .how = schedule::bounded,
                               .expected = ending::livelock,
                               .broken = {site::valid_mark, fault::skipped}};
};

struct wrong_stale_mark_counts : valid_bits<shipped, 2, 0> {
  static constexpr facts about{.name = "wrong/stale_mark_counts",
                               .proves = "a mark of an earlier lap counts: the entry is read before it is written",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 4 at position 0",
                               .threads = 3,
                               .how = schedule::bounded,
                               .expected = ending::data_race,
                               .broken = {site::valid_wait, fault::ones}};
};

const registration<wrong_turn_not_taken> r1;
const registration<wrong_mark_left_out> r2;
const registration<wrong_stale_mark_counts> r3;

}  // namespace
}  // namespace cmdq::checks

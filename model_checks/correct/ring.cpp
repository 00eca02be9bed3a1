// SPDX-License-Identifier: BSL-1.0
// Valid bits and the owner's turn, without any allocation around them.
#include "ring_scenarios.hpp"

namespace cmdq::checks {
namespace {

template <class C>
using shipped_ring = ring<prod_only_device, C>;

struct valid_even_lap : valid_bits<shipped_ring, 2, 0> {
  static constexpr facts about{
      .name = "valid/even_lap",
      .proves = "who sees an entry's mark sees the entry; marks of two CPUs in one word are kept",
      .bounds = "2 writers of 1 entry each, 1 reader, ring of 4 at position 0",
      .threads = 3,
      .how = schedule::full};
};
struct valid_across_wrap : valid_bits<shipped_ring, 2, 3> {
  static constexpr facts about{.name = "valid/across_wrap",
                               .proves = "the same where one entry is on an even and one on an odd lap",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 4 at position 3",
                               .threads = 3,
                               .how = schedule::full};
};
struct valid_across_zero : valid_bits<shipped_ring, 2, 0xffffffffU> {
  static constexpr facts about{.name = "valid/across_zero",
                               .proves = "the same where the 32-bit position overflows (L85)",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 4 at position 2^32 - 1",
                               .threads = 3,
                               .how = schedule::full};
};
struct valid_ring_of_2 : valid_bits<shipped_ring, 1, 1> {
  static constexpr facts about{.name = "valid/ring_of_2",
                               .proves = "the same where a word holds 2 bits, one on an even and one on an odd lap",
                               .bounds = "2 writers of 1 entry each, 1 reader, ring of 2 at position 1",
                               .threads = 3,
                               .how = schedule::full};
};
struct turn_two_owners : owners_turn<shipped_ring, 2> {
  static constexpr facts about{.name = "turn/two_owners",
                               .proves = "one PROD writer at a time, in ring order; PROD never goes back",
                               .bounds = "2 owners of 1 entry each",
                               .threads = 2,
                               .how = schedule::full};
};
struct turn_three_owners : owners_turn<shipped_ring, 3> {
  static constexpr facts about{.name = "turn/three_owners",
                               .proves = "one PROD writer at a time, in ring order; PROD never goes back",
                               .bounds = "3 owners of 1 entry each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 3};
};

const registration<valid_even_lap> r1;
const registration<valid_across_wrap> r2;
const registration<valid_across_zero> r3;
const registration<turn_three_owners> r4;
const registration<turn_two_owners> r5;
const registration<valid_ring_of_2> r6;

}  // namespace
}  // namespace cmdq::checks

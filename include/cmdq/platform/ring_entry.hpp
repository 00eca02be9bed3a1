// SPDX-License-Identifier: BSL-1.0
// One entry of the ring, as the device reads it: two or four little-endian words.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ring entries are little-endian; no byte swapping is done");

/// Word 0 is atomic because a late poller of an entry may still look at a slot that a later lap overwrites; the others
/// are plain, so that a checker reports an entry that is overwritten before the device has read it.
template <class P, unsigned Words = 2>
struct ring_entry {
  static_assert(Words == 2, "entries have two words or four");
  typename P::template atomic<uint64_t> word0;
  typename P::template plain<uint64_t> word1;

  void put(const command& c) noexcept {
    word1.set(c.word[1]);
    word0.store(c.word[0], at<site::entry_word0>);
  }
  [[nodiscard]] command get() const noexcept { return {{word0.load(at<site::entry_word0>), word1.get()}}; }
};

template <class P>
struct ring_entry<P, 4> {
  typename P::template atomic<uint64_t> word0;
  typename P::template plain<uint64_t> rest[3];

  void put(const command_of<4>& c) noexcept {
    for (unsigned i = 0; i < 3; ++i) rest[i].set(c.word[i + 1]);
    word0.store(c.word[0], at<site::entry_word0>);
  }
  [[nodiscard]] command_of<4> get() const noexcept {
    return {{word0.load(at<site::entry_word0>), rest[0].get(), rest[1].get(), rest[2].get()}};
  }
};

template <class Command>
inline constexpr unsigned words_of = sizeof(Command) / sizeof(uint64_t);

/// The entry of a device family.
template <class P, class Family>
using ring_entry_of = ring_entry<P, words_of<typename Family::command>>;

}  // namespace cmdq

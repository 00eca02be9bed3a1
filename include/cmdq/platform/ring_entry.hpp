// SPDX-License-Identifier: BSL-1.0
// One entry of the ring, as the device reads it: 16 bytes, two little-endian words.
#pragma once

#include <cmdq/core/command.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ring entries are little-endian; no byte swapping is done");

/// Word 0 is atomic because a late MSI poller may still look at a slot that a later lap overwrites; word 1 is plain, so
/// that a checker reports an entry that is overwritten before the device has read it.
template <class P>
struct ring_entry {
  typename P::template atomic<uint64_t> word0;
  typename P::template plain<uint64_t> word1;

  void put(const command& c) noexcept {
    word1.set(c.word[1]);
    word0.store(c.word[0], at<site::entry_word0>);
  }
  [[nodiscard]] command get() const noexcept { return {{word0.load(at<site::entry_word0>), word1.get()}}; }
};

}  // namespace cmdq

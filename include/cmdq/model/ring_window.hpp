// SPDX-License-Identifier: BSL-1.0
// The window through which a modelled device reaches memory: the ring's entries at a range of device addresses.
#pragma once

#include <stdint.h>

#include <cmdq/platform/concepts.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq::model {

/// An entry as the queue's memory holds it: word 0 atomic, word 1 plain.
template <class E>
concept entry_type = requires(E e, const E c, uint64_t v, uint64_t& expected) {
  { c.word0.load(at<site::device_fetch>) } -> detail::same_as<uint64_t>;
  e.word0.store(v, at<site::device_msi_write>);
  { e.word0.compare_exchange(expected, v, at<site::device_msi_write>) } -> detail::same_as<bool>;
  { c.word1.get() } -> detail::same_as<uint64_t>;
};

template <entry_type Entry>
class ring_window {
 public:
  static constexpr uint64_t entry_bytes = 16;

  ring_window() = default;
  ring_window(uint64_t base, Entry* entries, uint32_t count) noexcept : base_(base), entries_(entries), count_(count) {}

  /// The entry at a device address, or null where no entry begins in the window.
  [[nodiscard]] Entry* find(uint64_t address) const noexcept {
    const uint64_t offset = address - base_;
    if (entries_ == nullptr || offset / entry_bytes >= count_ || offset % entry_bytes != 0) return nullptr;
    return entries_ + offset / entry_bytes;
  }
  [[nodiscard]] bool contains(uint64_t address) const noexcept { return (address - base_) / entry_bytes < count_; }

  /// Fetches a command. Precondition: `e` came from find().
  [[nodiscard]] static command fetch(const Entry& e) noexcept {
    return {{e.word0.load(at<site::device_fetch>), e.word1.get()}};
  }

  /// A completion write into the window: 4 bytes, or 8 (Hi16xx; the upper half is zero-extended data). False where it
  /// does not hit word 0 of an entry: no driver asks for that, and word 1 is not the device's to write.
  bool write(uint64_t address, uint64_t data, unsigned bytes) const noexcept {
    const unsigned shift = address % 8 == 4 ? 32 : 0;
    Entry* e = find(address & ~7ULL);
    if (e == nullptr || (bytes == 8 && shift != 0)) return false;
    if (bytes == 8) {
      e->word0.store(data, at<site::device_msi_write>);
      return true;
    }
    const uint64_t mask = 0xffffffffULL << shift;
    uint64_t old = e->word0.load(at<site::device_msi_look>);
    while (!e->word0.compare_exchange(old, (old & ~mask) | ((data << shift) & mask), at<site::device_msi_write>)) {
    }
    return true;
  }

 private:
  uint64_t base_ = 0;
  Entry* entries_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace cmdq::model

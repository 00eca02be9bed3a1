// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq {

/// The one way to write GERRORN for all who share it. The register is read, changed and written, so two writers would
/// undo each other; here one is inside at a time, and nobody waits for the other: who finds it taken leaves word to the
/// one inside, or comes back later. Usable from an interrupt handler that interrupted the one inside.
template <class P>
class acknowledgement {
 public:
  /// Acknowledges `bits` that are active now, or leaves word to whoever is inside to do so before it goes. Lock-free.
  /// Cost: two read-modify-writes, two register reads and at most one write.
  template <class Device>
  void request(Device& device, uint32_t bits) noexcept {
    word_.fetch_or(bits & ~held, at<site::ack_ask>);
    if ((word_.fetch_or(held, at<site::ack_enter>) & held) == 0) leave(device);
  }

  /// The same at once, or not at all: false, and nothing written, while somebody is inside.
  template <class Device>
  [[nodiscard]] bool acknowledge(Device& device, uint32_t bits) noexcept {
    if ((word_.fetch_or(held, at<site::ack_enter>) & held) != 0) return false;
    write(device, bits);
    leave(device);
    return true;
  }

 private:
  static constexpr uint32_t held = 1U << 31;  ///< GERROR bit 31 is reserved: nobody asks for it

  template <class Device>
  static void write(Device& device, uint32_t bits) noexcept {
    const uint32_t acknowledged = device.read_gerrorn();
    const uint32_t active = (device.read_gerror() ^ acknowledged) & bits;
    if (active != 0) device.write_gerrorn(acknowledged ^ active);
  }

  /// Does what was asked for meanwhile, then leaves. Another round for each who asked in between.
  template <class Device>
  void leave(Device& device) noexcept {
    uint32_t seen = held;
    while (!word_.compare_exchange(seen, 0, at<site::ack_leave>)) {
      write(device, word_.fetch_and(held, at<site::ack_enter>) & ~held);
      seen = held;
    }
  }

  typename P::template atomic<uint32_t> word_;  ///< bits asked for, and whether somebody is inside
};

}  // namespace cmdq

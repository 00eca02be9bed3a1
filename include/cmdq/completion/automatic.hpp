// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/completion/poll_cons.hpp>
#include <cmdq/completion/poll_msi.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/platform/orderings.hpp>

namespace cmdq::completion {

/// Either mode, and a switch between them at run time. Starts by the published rule, MSIs where the device has them and
/// is coherent, unless options.device.prefer_cons (Hi16xx: polling the MSI is slower, whatever the firmware tables say;
/// the default, for a device that was not asked). choose_completion() measures both on the actual device.
struct automatic {
  static constexpr uint8_t ways = completes::by_register | completes::in_entry;
  static constexpr bool in_memory = false;

  template <class P>
  class state {
   public:
    static constexpr bool in_memory = false;
    template <class Ring>
    [[nodiscard]] auto sync_for(const Ring& ring, position p) const noexcept {
      return by_msi() ? poll_msi::sync_for(ring, p) : poll_cons::sync_for(ring, p);
    }
    template <class Ring>
    [[nodiscard]] static bool done(Ring& ring, position p) noexcept {
      return poll_msi::done(ring, p);
    }
    template <class Ring>
    [[nodiscard]] static bool pending(Ring& ring, position p) noexcept {
      return poll_msi::pending(ring, p);
    }
    template <class Ring>
    [[nodiscard]] static const void* word(Ring& ring, position p) noexcept {
      return poll_msi::word(ring, p);
    }
    /// How CMD_SYNCs are written from now on. Those in the ring may be of either form: who waits for one asks its
    /// entry.
    [[nodiscard]] bool by_msi() const noexcept { return msi_.load(at<site::completion_mode>) != 0; }
    /// In CONS mode too: an MSI before the switch may have shown more than CMDQ_CONS does yet.
    [[nodiscard]] bool may_trail() const noexcept { return possible_; }

    /// Switches, as the published module parameter disable_msipolling does at load time. From any context, also while
    /// others insert and wait: a CMD_SYNC keeps the form that it was written in. Errors: invalid_argument where the
    /// device cannot (no MSIs, not coherent, the ring at device address 0), and nothing changes. Wait-free.
    status use_msi(bool yes) noexcept {
      if (yes && !possible_) return status::invalid_argument;
      msi_.store(yes ? 1 : 0, at<site::completion_mode>);
      return status::ok;
    }
    [[nodiscard]] bool can_use_msi() const noexcept { return possible_; }

    /// The queue's, before anybody inserts.
    template <class Ring>
    void start(const Ring& ring) noexcept {
      const auto& device = ring.opts().device;
      possible_ = Ring::family::can_complete_in_entry(device, ring.device_address(0));
      msi_.store(possible_ && !Ring::family::prefers_register(device) ? 1 : 0, at<site::completion_mode>);
    }

   private:
    typename P::template atomic<uint32_t> msi_{0};
    bool possible_ = false;
  };
};

/// What both modes took: nanoseconds for all `rounds`, and what each ended with.
struct measured {
  status cons_code = status::ok;
  status msi_code = status::ok;  ///< invalid_argument: the device cannot, and was not asked to
  uint64_t cons_ns = 0;
  uint64_t msi_ns = 0;
};

/// Sends `rounds` lone CMD_SYNCs in each mode and leaves the queue in the faster one; in CONS mode where the device
/// refuses an MSI or is as fast. MSIs are tried only where options.device says that they can come. For start-up: others
/// that insert meanwhile blur the measurement. Waits as issue() does, at most 2 x `rounds` times.
template <class Queue>
measured choose_completion(Queue& queue, typename Queue::producer& by, uint32_t rounds = 16) noexcept {
  measured m;
  const auto time = [&](bool msi, status& code) {
    code = queue.completion().use_msi(msi);
    const uint64_t begin = Queue::P::now_ns();
    for (uint32_t i = 0; i < rounds && code == status::ok; ++i) code = by.issue(nullptr, 0).code;
    return Queue::P::now_ns() - begin;
  };
  m.cons_ns = time(false, m.cons_code);
  m.msi_ns = time(true, m.msi_code);
  const bool faster = m.msi_code == status::ok && m.cons_code == status::ok && m.msi_ns < m.cons_ns;
  static_cast<void>(queue.completion().use_msi(faster));
  return m;
}

}  // namespace cmdq::completion

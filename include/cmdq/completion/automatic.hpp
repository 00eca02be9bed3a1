// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/completion/poll_cons.hpp>
#include <cmdq/completion/poll_msi.hpp>
#include <cmdq/core/status.hpp>

namespace cmdq::completion {

/// Either mode, chosen at run time: by the user, or by choose_completion(), which measures both on the actual device.
/// On some parts polling the MSI is the slower one (Hi16xx), whatever the firmware tables say. Starts with CONS.
class automatic {
 public:
  [[nodiscard]] command sync_for(uint64_t slot_address, sync_signal signal) const noexcept {
    return msi_ ? poll_msi::sync_for(slot_address, signal) : poll_cons::sync_for(slot_address, signal);
  }
  [[nodiscard]] bool by_msi() const noexcept { return msi_; }
  /// In CONS mode too: an MSI before the switch may have shown more than CMDQ_CONS does yet.
  [[nodiscard]] static constexpr bool may_trail() noexcept { return true; }
  /// Before more than one producer inserts. A CMD_SYNC already sent is still noticed, in either mode, through CONS.
  void use_msi(bool yes) noexcept { msi_ = yes; }

 private:
  bool msi_ = false;
};

/// What both modes took: nanoseconds for all `rounds`, and what each ended with.
struct measured {
  status cons_code = status::ok;
  status msi_code = status::ok;
  uint64_t cons_ns = 0;
  uint64_t msi_ns = 0;
};

/// Sends `rounds` lone CMD_SYNCs in each mode and leaves the queue in the faster one; in CONS mode where the device
/// refuses an MSI or is as fast. For start-up: no other producer may insert meanwhile. Waits as issue() does, 2 x
/// `rounds` times.
template <class Queue>
measured choose_completion(Queue& queue, typename Queue::producer& by, uint32_t rounds = 16) noexcept {
  measured m;
  const auto time = [&](bool msi, status& code) {
    queue.completion().use_msi(msi);
    const uint64_t begin = Queue::P::now_ns();
    for (uint32_t i = 0; i < rounds && code == status::ok; ++i) code = by.issue(nullptr, 0).code;
    return Queue::P::now_ns() - begin;
  };
  m.cons_ns = time(false, m.cons_code);
  m.msi_ns = time(true, m.msi_code);
  queue.completion().use_msi(m.msi_code == status::ok && m.cons_code == status::ok && m.msi_ns < m.cons_ns);
  return m;
}

}  // namespace cmdq::completion

// SPDX-License-Identifier: BSL-1.0
// How an SMMUv3 says that a command was wrong: GERROR.CMDQ_ERR toggles, CMDQ_CONS stands at the command and shows a
// code, and nothing is consumed until GERRORN is written.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/smmuv3/acknowledge.hpp>
#include <cmdq/smmuv3/error_bits.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq {

/// The queue's own bits of GERROR. It acknowledges no others.
inline constexpr uint32_t own_errors = gerror::cmdq_err | gerror::msi_cmdq_abt;

namespace smmuv3 {

template <class P>
class error_protocol {
 public:
  /// Handles what GERROR shows, at most one error (SMMUv3 GERROR).
  template <class Host>
  error_report handle(Host& host) noexcept {
    auto& device = host.device();
    const uint32_t now = device.read_gerror();
    const uint32_t seen = device.read_gerrorn();
    if (now == device_gone || seen == device_gone) return {status::device_fault};
    const uint32_t active = now ^ seen;
    error_report report{.others = active & ~own_errors};
    if ((active & gerror::sfm) != 0) report.code = status::device_fault;  // it has stopped for good
    if ((active & own_errors) != 0 && repaired_.get() == 0) host.count();
    uint32_t mine = active & gerror::msi_cmdq_abt;
    if ((active & gerror::cmdq_err) == 0) {
      repaired_.set(0);
    } else {
      const status s = repaired_.get() != 0 ? status::ok : repair(host);
      if (s == status::ok) {
        repaired_.set(1);
        mine |= gerror::cmdq_err;
      } else {
        report.code = s;
      }
    }
    if (mine == 0) return report;
    if (acknowledgement_.acknowledge(device, mine)) {
      if ((mine & gerror::cmdq_err) != 0) repaired_.set(0);
      if ((mine & gerror::msi_cmdq_abt) != 0) host.completions_lost();  // asks what was told after the ack
      report.handled = true;
    } else {
      report.again = true;  // the driver is at the register: the next look acknowledges
    }
    return report;
  }

  /// For the driver's own bits; see command_queue::acknowledge().
  template <class Device>
  void acknowledge(Device& device, uint32_t bits) noexcept {
    acknowledgement_.request(device, bits & ~own_errors);
  }
  template <class Device>
  [[nodiscard]] static uint32_t pending(Device& device) noexcept {
    return device.read_gerror() ^ device.read_gerrorn();
  }

 private:
  /// A CMD_SYNC that its own MSI has zeroed: met again only after a reset of the device, and nobody's error.
  template <class Host>
  [[nodiscard]] static bool was_done(Host& host, position p) noexcept {
    const command c = host.get(p);
    return static_cast<uint32_t>(c.word[0]) == 0 && c.word[1] == host.device_address(p);
  }

  /// Finds the erroneous position and makes it harmless. Consumption stands still until GERRORN is written.
  template <class Host>
  status repair(Host& host) noexcept {
    position p = 0;
    uint32_t reg = 0;
    if (const status s = host.position_of_error(p, reg); s != status::ok) return s;
    switch (static_cast<cerror>(cons_error(reg))) {
      case cerror::ill:
        if (host.noted(p) == fault::illegal) return status::device_fault;  // it refuses even the replacement
        if (!host.may_trail() || !was_done(host, p)) host.note(p, fault::illegal);
        // Who waits for a CMD_SYNC that was replaced sees CONS pass it.
        host.put(p, make_sync(sync_signal::none));
        return status::ok;
      case cerror::abt:
        if (host.retry_again(p)) return status::ok;
        host.note(p, fault::fetch);
        return status::device_fault;
      case cerror::atc_inv:
        note_atc(host, host.covered_from(p), p);
        return host.retry_again(p) ? status::ok : status::device_fault;
      default:
        return status::device_fault;
    }
  }

  /// The CMD_SYNC where it is its list's own, else each ATC_INV that it answers for: a shared one has waiters without
  /// an ATC_INV of theirs.
  template <class Host>
  static void note_atc(Host& host, position from, position p) noexcept {
    for (position q = from; q != p; ++q)
      if (opcode_of(host.get(q).word[0]) == opcode_atc_inv) host.note(q, fault::unanswered);
    if (from == p) host.note(p, fault::unanswered);
  }

  typename P::template plain<uint32_t> repaired_;  ///< the error that is active is, but for GERRORN
  acknowledgement<P> acknowledgement_;
};

}  // namespace smmuv3
}  // namespace cmdq

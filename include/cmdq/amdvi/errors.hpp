// SPDX-License-Identifier: BSL-1.0
// How an AMD IOMMU says that a command was wrong: the buffer stops (CmdBufRun), the head stands at the command, and an
// event says why. Drivers that were read restart it at 0 with head = tail = 0, and what was in it is lost; here the
// head is set to where it stood. That a head may be written while the buffer is off was read of no source: to be tried
// on the part at hand. QEMU 7.2 stops at nothing: there a refused command is told by the event log alone.
#pragma once

#include <cmdq/amdvi/device_type.hpp>
#include <cmdq/amdvi/wire.hpp>
#include <cmdq/core/family.hpp>

namespace cmdq::amdvi {

template <class P>
class error_protocol {
 public:
  template <class Host>
  error_report handle(Host& host) noexcept {
    auto& device = host.device();
    const uint32_t e = device.read_error();
    if (e == command_error::none) return {};
    if (e == device_gone) return {status::device_fault};
    host.count();
    position p = 0;
    uint32_t reg = 0;
    error_report report;
    report.code = host.position_of_error(p, reg);
    if (report.code == status::ok) report.code = repair(host, e, p);
    if (report.code != status::ok) return report;
    device.restart(reg);
    host.tell_again();
    report.handled = true;
    return report;
  }
  template <class Device>
  [[nodiscard]] static uint32_t pending(Device& device) noexcept {
    return device.read_error();
  }

 private:
  template <class Host>
  static status repair(Host& host, uint32_t e, position p) noexcept {
    if (e == command_error::illegal) {
      const bool again = host.noted(p) == fault::illegal;
      host.note(p, fault::illegal);
      // A wait that is refused can say nothing any more, and another way to see completion there is not.
      if (again || opcode_of(host.get(p).word[0]) == opcode::completion_wait) return status::device_fault;
      host.put(p, make_harmless());
      return status::ok;
    }
    if (host.retry_again(p)) return status::ok;
    host.note(p, fault::fetch);
    return status::device_fault;
  }
};

}  // namespace cmdq::amdvi

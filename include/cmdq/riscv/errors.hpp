// SPDX-License-Identifier: BSL-1.0
// How a RISC-V IOMMU says that a command was wrong: bits of cqcsr. cqh stands at the command, and nothing goes on until
// the bit is cleared.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/riscv/registers.hpp>
#include <cmdq/riscv/wire.hpp>

namespace cmdq::riscv {

namespace cqcsr = registers::cqcsr;

template <class P>
class error_protocol {
 public:
  template <class Host>
  error_report handle(Host& host) noexcept {
    auto& device = host.device();
    const uint32_t now = device.read_cqcsr();
    if (now == device_gone) return {status::device_fault};
    const uint32_t mine = now & cqcsr::errors;
    error_report report{.others = now & cqcsr::fence_w_ip};
    if (mine == 0) return report;
    host.count();
    report.code = repair(host, mine);
    if (report.code != status::ok) return report;
    device.clear_errors(mine);
    report.handled = true;
    return report;
  }
  template <class Device>
  [[nodiscard]] static uint32_t pending(Device& device) noexcept {
    return device.read_cqcsr() & (cqcsr::errors | cqcsr::fence_w_ip);
  }

 private:
  template <class Host>
  static status repair(Host& host, uint32_t mine) noexcept {
    position p = 0;
    uint32_t reg = 0;
    if (const status s = host.position_of_error(p, reg); s != status::ok) return s;
    if ((mine & cqcsr::cmd_ill) != 0) {
      const bool again = host.noted(p) == fault::illegal;
      if (again) return status::device_fault;  // it refuses even the replacement
      host.note(p, fault::illegal);
      // A fence that does nothing else orders as well as the one it replaces: cqh past it is its completion.
      if (kind_of(host.get(p).word[0]) == kinds::iofence_c) host.completions_lost(p + 1);
      host.put(p, make_harmless());
      return status::ok;
    }
    if ((mine & cqcsr::cqmf) != 0) {
      if (host.retry_again(p)) return status::ok;
      host.note(p, fault::fetch);
      return status::device_fault;
    }
    // The fence saw it, all else before it is done, and it is tried again.
    const position from = host.covered_from(p);
    for (position q = from; q != p; ++q)
      if (kind_of(host.get(q).word[0]) == kinds::ats_inval) host.note(q, fault::unanswered);
    if (from == p) host.note(p, fault::unanswered);
    return host.retry_again(p) ? status::ok : status::device_fault;
  }
};

}  // namespace cmdq::riscv

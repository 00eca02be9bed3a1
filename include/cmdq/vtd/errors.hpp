// SPDX-License-Identifier: BSL-1.0
// How a VT-d unit says that a descriptor was wrong: bits of FSTS that are cleared by writing them.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/vtd/registers.hpp>
#include <cmdq/vtd/wire.hpp>

namespace cmdq::vtd {

namespace fsts = registers::fsts;

inline constexpr uint32_t own_errors = fsts::iqe | fsts::ice | fsts::ite;

/// - IQE: the head stands at the descriptor, and nothing is fetched until the bit is cleared. The descriptor's list is
///   told illegal_command, and one that does nothing takes its place.
/// - ITE: a device's TLB did not answer, and all waits that were fetched and not done are aborted: their writes do not
///   come. All lists that one of them covers are told atc_timeout: none is known to be done (Linux retries all of them
///   as well). So is the list of the invalidation itself, where its wait was not fetched yet.
/// - ICE is cleared.
template <class P>
class error_protocol {
 public:
  template <class Host>
  error_report handle(Host& host) noexcept {
    auto& device = host.device();
    const uint32_t active = device.read_fsts();
    if (active == device_gone) return {status::device_fault};
    error_report report{.others = active & ~own_errors};
    const uint32_t mine = active & own_errors;
    if (mine == 0) return report;
    host.count();
    if ((mine & fsts::ite) != 0)
      if (const status s = abort_waits(host); s != status::ok) report.code = s;
    if ((mine & fsts::iqe) != 0 && report.code == status::ok) report.code = repair(host);
    if (report.code != status::ok) return report;
    device.write_fsts(mine);
    host.tell_again();  // QEMU goes on at the next write of the tail only
    report.handled = true;
    return report;
  }
  template <class Device>
  [[nodiscard]] static uint32_t pending(Device& device) noexcept {
    return device.read_fsts();
  }

 private:
  static constexpr bool is_device_tlb(uint64_t word0, uint32_t sid) noexcept {
    const uint32_t t = type_of(word0);
    if (t != type::device_tlb && t != type::pasid_device_tlb) return false;
    return sid == 0 || sid == ((word0 >> (t == type::device_tlb ? 32 : 16)) & 0xffffU);
  }

  template <class Host>
  static status repair(Host& host) noexcept {
    position p = 0;
    uint32_t reg = 0;
    if (const status s = host.position_of_error(p, reg); s != status::ok) return s;
    const bool again = host.noted(p) == fault::illegal;
    host.note(p, fault::illegal);
    if (again || type_of(host.get(p).word[0]) == type::wait) return status::device_fault;  // nothing can be done then
    host.put(p, make_harmless());
    return status::ok;
  }

  template <class Host>
  static status abort_waits(Host& host) noexcept {
    position head = 0;
    uint32_t reg = 0;
    if (const status s = host.position_now(head, reg); s != status::ok) return s;
    position from = host.done();
    position last = from;  // behind the last wait that was fetched
    for (position p = from; p != head; ++p) {
      if (host.word_done(p)) from = p + 1;  // and all before it
      if (type_of(host.get(p).word[0]) == type::wait) last = p + 1;
    }
    // Whose invalidation it was, and, where the unit does not say, each that it can have been.
    const uint32_t sid = registers::timed_out_sid(host.device().read_iqercd());
    for (position p = from; p != head; ++p)
      if (distance(p, last) > 0 || is_device_tlb(host.get(p).word[0], sid)) host.note(p, fault::unanswered);
    if (distance(from, last) > 0) host.completions_lost(last);
    return status::ok;
  }
};

}  // namespace cmdq::vtd

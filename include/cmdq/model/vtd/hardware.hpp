// SPDX-License-Identifier: BSL-1.0
// A modelled VT-d unit: its head moves at fetch, it refuses unknown types and reserved bits, and a time-out of a
// device's TLB aborts the waits that were fetched.
#pragma once

#include <cmdq/model/ring_device.hpp>
#include <cmdq/vtd/commands.hpp>
#include <cmdq/vtd/family.hpp>

namespace cmdq::model::vtd {

struct rules {
  using family = cmdq::vtd::family;
  static constexpr bool moves_at_fetch = true;
  static constexpr bool told_at_sync = false;
  static constexpr bool aborts_waits = true;
  static constexpr unsigned write_bytes = 4;
  static constexpr bool legal(const command& c) noexcept { return cmdq::vtd::legal(c); }
  static constexpr bool wants_write(const command& c) noexcept {
    return family::is_sync(c) && (c.word[0] & (1U << 5)) != 0;
  }
  static constexpr uint64_t write_address(const command& c) noexcept { return c.word[1]; }
  static constexpr uint64_t write_data(const command& c) noexcept { return c.word[0] >> 32; }
  static constexpr bool answers_late(const command& c, uint32_t sid) noexcept {
    return cmdq::vtd::type_of(c.word[0]) == cmdq::vtd::type::device_tlb && ((c.word[0] >> 32) & 0xffffU) == sid;
  }

  template <class P>
  struct errors {
    typename P::template atomic<uint32_t> fsts{0};
    typename P::template atomic<uint64_t> iqercd{0};
    typename P::template atomic<uint32_t> parked{0};  ///< after an error was cleared, until the tail is written
    [[nodiscard]] bool stopped() const noexcept {
      return parked.load(at<site::device_hold>) != 0 ||
             (fsts.load(at<site::device_ack_read>) & (cmdq::vtd::fsts::iqe | cmdq::vtd::fsts::ite)) != 0;
    }
    void illegal() noexcept { fsts.fetch_or(cmdq::vtd::fsts::iqe, at<site::device_gerror_write>); }
    void fetch_failed() noexcept { illegal(); }
    void timed_out(uint32_t sid) noexcept {
      iqercd.store(uint64_t{sid} << 32, at<site::device_gerror_write>);
      fsts.fetch_or(cmdq::vtd::fsts::ite, at<site::device_gerror_write>);
    }
  };
};

/// Satisfies vtd::device_type.
template <platform_type P, class Hooks = no_ring_hooks>
class hardware : public ring_device<P, rules, Hooks> {
  using base = ring_device<P, rules, Hooks>;

 public:
  using base::base;
  [[nodiscard]] uint32_t read_fsts() const noexcept { return base::errors.fsts.load(at<site::device_gerror_read>); }
  /// As in QEMU 7.2, clearing an error does not make it go on: the next write of the tail does.
  void write_fsts(uint32_t ones) noexcept {
    if (base::errors.stopped()) base::errors.parked.store(1, at<site::device_hold>);
    base::errors.fsts.fetch_and(~ones, at<site::device_ack_write>);
  }
  void write_prod(uint32_t v) noexcept {
    base::write_prod(v);
    base::errors.parked.store(0, at<site::device_hold>);
  }
  [[nodiscard]] uint64_t read_iqercd() const noexcept { return base::errors.iqercd.load(at<site::device_gerror_read>); }
};

}  // namespace cmdq::model::vtd

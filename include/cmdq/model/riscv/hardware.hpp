// SPDX-License-Identifier: BSL-1.0
// A modelled RISC-V IOMMU: cqh moves when a command is executed, and stays at what is refused.
#pragma once

#include <cmdq/model/ring_device.hpp>
#include <cmdq/riscv/commands.hpp>
#include <cmdq/riscv/family.hpp>

namespace cmdq::model::riscv {

namespace cqcsr = cmdq::riscv::cqcsr;

struct rules {
  using family = cmdq::riscv::family;
  static constexpr bool moves_at_fetch = false;
  static constexpr bool told_at_sync = true;
  static constexpr bool aborts_waits = false;
  static constexpr unsigned write_bytes = 4;
  static constexpr bool legal(const command& c) noexcept { return cmdq::riscv::legal(c); }
  static constexpr bool wants_write(const command& c) noexcept {
    return family::is_sync(c) && (c.word[0] & (1U << 10)) != 0;
  }
  static constexpr uint64_t write_address(const command& c) noexcept { return c.word[1] << 2; }
  static constexpr uint64_t write_data(const command& c) noexcept { return c.word[0] >> 32; }
  static constexpr bool answers_late(const command& c, uint32_t rid) noexcept {
    return cmdq::riscv::kind_of(c.word[0]) == cmdq::riscv::kinds::ats_inval && ((c.word[0] >> 40) & 0xffffU) == rid;
  }

  template <class P>
  struct errors {
    typename P::template atomic<uint32_t> cqcsr{cmdq::riscv::cqcsr::cqen | cmdq::riscv::cqcsr::cqon};
    [[nodiscard]] bool stopped() const noexcept {
      return (cqcsr.load(at<site::device_ack_read>) & cmdq::riscv::cqcsr::errors) != 0;
    }
    void illegal() noexcept { cqcsr.fetch_or(cmdq::riscv::cqcsr::cmd_ill, at<site::device_gerror_write>); }
    void fetch_failed() noexcept { cqcsr.fetch_or(cmdq::riscv::cqcsr::cqmf, at<site::device_gerror_write>); }
    void timed_out(uint32_t) noexcept { cqcsr.fetch_or(cmdq::riscv::cqcsr::cmd_to, at<site::device_gerror_write>); }
  };
};

/// Satisfies riscv::device_type.
template <platform_type P, class Hooks = no_ring_hooks>
class hardware : public ring_device<P, rules, Hooks> {
  using base = ring_device<P, rules, Hooks>;

 public:
  using base::base;
  [[nodiscard]] uint32_t read_cqcsr() const noexcept { return base::errors.cqcsr.load(at<site::device_gerror_read>); }
  void clear_errors(uint32_t ones) noexcept {
    base::errors.cqcsr.fetch_and(~(ones & cqcsr::errors), at<site::device_ack_write>);
  }
};

}  // namespace cmdq::model::riscv

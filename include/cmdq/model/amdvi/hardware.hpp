// SPDX-License-Identifier: BSL-1.0
// A modelled AMD IOMMU: it stops at a command that it refuses or cannot fetch, and goes on when it is restarted.
#pragma once

#include <cmdq/amdvi/commands.hpp>
#include <cmdq/amdvi/family.hpp>
#include <cmdq/model/ring_device.hpp>

namespace cmdq::model::amdvi {

namespace command_error = cmdq::amdvi::command_error;

struct rules {
  using family = cmdq::amdvi::family;
  static constexpr bool moves_at_fetch = true;
  static constexpr bool told_at_sync = false;
  static constexpr bool aborts_waits = false;
  static constexpr unsigned write_bytes = 8;
  static constexpr bool legal(const command& c) noexcept { return cmdq::amdvi::legal(c); }
  static constexpr bool wants_write(const command& c) noexcept { return family::is_sync(c) && (c.word[0] & 1U) != 0; }
  static constexpr uint64_t write_address(const command& c) noexcept { return c.word[0] & 0x000ffffffffffff8ULL; }
  static constexpr uint64_t write_data(const command& c) noexcept { return c.word[1]; }
  static constexpr bool answers_late(const command&, uint32_t) noexcept { return false; }

  template <class P>
  struct errors {
    typename P::template atomic<uint32_t> code{command_error::none};
    [[nodiscard]] bool stopped() const noexcept { return code.load(at<site::device_ack_read>) != command_error::none; }
    void illegal() noexcept { code.store(command_error::illegal, at<site::device_gerror_write>); }
    void fetch_failed() noexcept { code.store(command_error::hardware, at<site::device_gerror_write>); }
    void timed_out(uint32_t) noexcept {}
  };
};

/// Satisfies amdvi::device_type.
template <platform_type P, class Hooks = no_ring_hooks>
class hardware : public ring_device<P, rules, Hooks> {
  using base = ring_device<P, rules, Hooks>;

 public:
  using base::base;
  [[nodiscard]] uint32_t read_error() const noexcept { return base::errors.code.load(at<site::device_gerror_read>); }
  /// The head is where it stopped already.
  void restart(uint32_t) noexcept { base::errors.code.store(command_error::none, at<site::device_ack_write>); }
};

}  // namespace cmdq::model::amdvi

// SPDX-License-Identifier: BSL-1.0
// The registers of page 0 that touch the command queue, with the rules of who may write what and when. What the CPU and
// the device share is atomic; the rest belongs to the one thread that configures the device.
#pragma once

#include <stdint.h>

#include <cmdq/core/position.hpp>
#include <cmdq/core/registers.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/model/capabilities.hpp>
#include <cmdq/platform/concepts.hpp>
#include <cmdq/smmuv3/device.hpp>

namespace cmdq::model {

/// Bits that may be written.
namespace writable {
inline constexpr uint32_t cr0 = 0x5dfU;  ///< SMMUEN, PRIQEN, EVTQEN, CMDQEN, ATSCHK, VMW, DPT_WALK_EN
inline constexpr uint32_t cr1 = 0xfffU;
inline constexpr uint32_t cr2 = 0x7U;
inline constexpr uint64_t cmdq_base = 1ULL << 62 | 0x000fffffffffffe0ULL | 0x1fULL;
inline constexpr uint32_t position = 0x000fffffU;         ///< index and wrap for LOG2SIZE 19
inline constexpr uint32_t cons = 0x7f000000U | position;  ///< ERR, index and wrap
}  // namespace writable

inline constexpr uint32_t cr0_smmuen = 1U << 0;

template <platform_type P>
struct register_file {
  explicit register_file(const capabilities& c) noexcept : caps(c) {}

  /// Value at `at`; 0 where nothing is (SMMUv3: reserved locations read as zero).
  [[nodiscard]] uint64_t read(uint32_t at_offset) const noexcept {
    switch (at_offset) {
      case smmuv3::reg::idr0:
        return idr0(caps);
      case smmuv3::reg::idr1:
        return idr1(caps);
      case smmuv3::reg::idr3:
        return idr3(caps);
      case smmuv3::reg::idr5:
        return idr5();
      case smmuv3::reg::iidr:
        return caps.iidr;
      case smmuv3::reg::cr0:
        return cr0.load(at<site::device_control_read>);
      case smmuv3::reg::cr0ack:
        return cr0ack.load(at<site::device_control_read>);
      case smmuv3::reg::cr1:
        return cr1;
      case smmuv3::reg::cr2:
        return cr2;
      case smmuv3::reg::gerror:
        return gerror.load(at<site::device_gerror_read>);
      case smmuv3::reg::gerrorn:
        return gerrorn.load(at<site::device_ack_read>);
      case smmuv3::reg::cmdq_base:
        return cmdq_base;
      case smmuv3::reg::cmdq_prod:
        return prod.load(at<site::device_prod_read>);
      case smmuv3::reg::cmdq_cons:
        return cons.load(at<site::device_cons_read>);
      default:
        return 0;
    }
  }

  /// Writes one register. Real hardware ignores a write that it may not honour; here it is refused and says why:
  ///  - invalid_argument: read-only register, reserved bits set, or a register that CMDQEN or SMMUEN protects now;
  ///  - out_of_range: no such register, a value wider than it, or CMDQ_BASE.LOG2SIZE above IDR1.CMDQS;
  ///  - misaligned: CMDQ_BASE not aligned to the size of the queue (16 << LOG2SIZE, at least 32 bytes).
  status write(uint32_t at_offset, uint64_t value) noexcept {
    if (at_offset == smmuv3::reg::cmdq_base) return write_base(value);
    if (value >> 32 != 0) return status::out_of_range;
    const uint32_t v = static_cast<uint32_t>(value);
    switch (at_offset) {
      case smmuv3::reg::cr0:
        if ((v & ~writable::cr0) != 0) return status::invalid_argument;
        cr0.store(v, at<site::device_control_write>);
        return status::ok;
      case smmuv3::reg::cr1:
        if ((v & ~writable::cr1) != 0 || touched(smmuv3::reg::cr0_cmdqen | cr0_smmuen)) return status::invalid_argument;
        cr1 = v;
        return status::ok;
      case smmuv3::reg::cr2:
        if ((v & ~writable::cr2) != 0 || touched(cr0_smmuen)) return status::invalid_argument;
        cr2 = v;
        return status::ok;
      case smmuv3::reg::gerrorn:
        if ((v & ~gerror::mask) != 0) return status::invalid_argument;
        gerrorn.store(v, at<site::device_ack_write>);
        return status::ok;
      case smmuv3::reg::cmdq_prod:
        if ((v & ~writable::position) != 0) return status::invalid_argument;
        prod.store(v, at<site::device_prod_write>);
        return status::ok;
      case smmuv3::reg::cmdq_cons:
        if ((v & ~writable::cons) != 0 || touched(smmuv3::reg::cr0_cmdqen)) return status::invalid_argument;
        cons.store(v, at<site::device_cons_write>);
        return status::ok;
      default:
        return at_offset % 4 == 0 && read_only(at_offset) ? status::invalid_argument : status::out_of_range;
    }
  }

  /// CMDQ_BASE.LOG2SIZE and CMDQ_BASE.ADDR.
  [[nodiscard]] geometry shape() const noexcept { return {static_cast<uint32_t>(cmdq_base & 0x1fU)}; }
  [[nodiscard]] uint64_t base_address() const noexcept { return cmdq_base & 0x000fffffffffffe0ULL; }

  capabilities caps;
  typename P::template atomic<uint32_t> prod{0};
  typename P::template atomic<uint32_t> cons{0};
  typename P::template atomic<uint32_t> gerror{0};
  typename P::template atomic<uint32_t> gerrorn{0};
  typename P::template atomic<uint32_t> cr0{0};
  typename P::template atomic<uint32_t> cr0ack{0};
  uint32_t cr1 = 0;
  uint32_t cr2 = 0;
  uint64_t cmdq_base = 0;

 private:
  /// True while any of these CR0 bits is on or is not yet acknowledged as off.
  [[nodiscard]] bool touched(uint32_t bits) const noexcept {
    return ((cr0.load(at<site::device_control_read>) | cr0ack.load(at<site::device_control_read>)) & bits) != 0;
  }
  [[nodiscard]] static constexpr bool read_only(uint32_t at_offset) noexcept {
    return at_offset <= smmuv3::reg::iidr || at_offset == smmuv3::reg::cr0ack || at_offset == smmuv3::reg::gerror;
  }
  status write_base(uint64_t value) noexcept {
    const uint32_t log2 = static_cast<uint32_t>(value & 0x1fU);
    if ((value & ~writable::cmdq_base) != 0 || touched(smmuv3::reg::cr0_cmdqen)) return status::invalid_argument;
    if (log2 > caps.cmdqs || log2 > max_log2_size) return status::out_of_range;
    const uint64_t size = 16ULL << log2;
    const uint64_t alignment = size < 32 ? 32 : size;
    if ((value & 0x000fffffffffffe0ULL & (alignment - 1)) != 0) return status::misaligned;
    cmdq_base = value;
    return status::ok;
  }
};

}  // namespace cmdq::model

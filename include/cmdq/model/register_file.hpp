// SPDX-License-Identifier: BSL-1.0
// The registers of page 0 that touch the command queue, with the rules of who may write what and when. What the CPU and
// the device share is atomic; the rest belongs to the one thread that configures the device.
#pragma once

#include <stdint.h>

#include <cmdq/core/position.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/model/capabilities.hpp>
#include <cmdq/platform/concepts.hpp>
#include <cmdq/smmuv3/error_bits.hpp>
#include <cmdq/smmuv3/registers.hpp>

namespace cmdq::model {

namespace offset = smmuv3::registers::offset;
namespace field = smmuv3::registers;

inline constexpr uint32_t smmuen = field::cr0::smmuen.mask();
inline constexpr uint32_t cmdqen = field::cr0::cmdqen.mask();
/// What may be written to CMDQ_PROD (index and wrap for LOG2SIZE 19) and to CMDQ_CONS (ERR as well).
inline constexpr uint32_t prod_mask = (2U << max_log2_size) - 1;
inline constexpr uint32_t cons_mask = field::cmdq_cons::err.mask() | prod_mask;

template <platform_type P>
struct register_file {
  explicit register_file(const capabilities& c) noexcept : caps(c) {}

  /// Value at `at`; 0 where nothing is (SMMUv3: reserved locations read as zero).
  [[nodiscard]] uint64_t read(uint32_t at_offset) const noexcept {
    switch (at_offset) {
      case offset::idr0:
        return idr0(caps);
      case offset::idr1:
        return idr1(caps);
      case offset::idr3:
        return idr3(caps);
      case offset::idr5:
        return idr5();
      case offset::iidr:
        return caps.iidr;
      case offset::cr0:
        return cr0.load(at<site::device_control_read>);
      case offset::cr0ack:
        return cr0ack.load(at<site::device_control_read>);
      case offset::cr1:
        return cr1;
      case offset::cr2:
        return cr2;
      case offset::gerror:
        return gerror.load(at<site::device_gerror_read>);
      case offset::gerrorn:
        return gerrorn.load(at<site::device_ack_read>);
      case offset::cmdq_base:
        return cmdq_base;
      case offset::cmdq_prod:
        return prod.load(at<site::device_prod_read>);
      case offset::cmdq_cons:
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
    if (at_offset == offset::cmdq_base) return write_base(value);
    if (value >> 32 != 0) return status::out_of_range;
    const uint32_t v = static_cast<uint32_t>(value);
    switch (at_offset) {
      case offset::cr0:
        if ((v & ~field::cr0::mask) != 0) return status::invalid_argument;
        cr0.store(v, at<site::device_control_write>);
        return status::ok;
      case offset::cr1:
        if ((v & ~field::cr1::mask) != 0 || touched(cmdqen | smmuen)) return status::invalid_argument;
        cr1 = v;
        return status::ok;
      case offset::cr2:
        if ((v & ~field::cr2::mask) != 0 || touched(smmuen)) return status::invalid_argument;
        cr2 = v;
        return status::ok;
      case offset::gerrorn:
        if ((v & ~gerror::mask) != 0) return status::invalid_argument;
        gerrorn.store(v, at<site::device_ack_write>);
        return status::ok;
      case offset::cmdq_prod:
        if ((v & ~prod_mask) != 0) return status::invalid_argument;
        prod.store(v, at<site::device_prod_write>);
        return status::ok;
      case offset::cmdq_cons:
        if ((v & ~cons_mask) != 0 || touched(cmdqen)) return status::invalid_argument;
        cons.store(v, at<site::device_cons_write>);
        return status::ok;
      default:
        return at_offset % 4 == 0 && read_only(at_offset) ? status::invalid_argument : status::out_of_range;
    }
  }

  [[nodiscard]] geometry shape() const noexcept { return field::shape_of(cmdq_base); }
  [[nodiscard]] uint64_t base_address() const noexcept { return cmdq_base & field::cmdq_base::addr.mask(); }

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
    return at_offset <= offset::iidr || at_offset == offset::cr0ack || at_offset == offset::gerror;
  }
  status write_base(uint64_t value) noexcept {
    if ((value & ~field::cmdq_base::mask) != 0 || touched(cmdqen)) return status::invalid_argument;
    const uint64_t address = value & field::cmdq_base::addr.mask();
    const auto log2 = static_cast<uint32_t>(field::cmdq_base::log2size.get(value));
    if (const auto checked = field::make_cmdq_base(address, log2, caps.cmdqs); !checked) return checked.code();
    cmdq_base = value;
    return status::ok;
  }
};

}  // namespace cmdq::model

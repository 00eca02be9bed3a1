// SPDX-License-Identifier: BSL-1.0
// The registers of an AMD IOMMU that its command buffer needs (Linux, FreeBSD and emulators as far as read; the
// specification itself was not).
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/core/status.hpp>

namespace cmdq::amdvi::registers {

namespace offset {
inline constexpr uint32_t command_base = 0x0008, event_base = 0x0010, control = 0x0018, command_head = 0x2000,
                          command_tail = 0x2008, event_head = 0x2010, event_tail = 0x2018, status = 0x2020;
}

namespace control {
inline constexpr uint32_t iommu_en = 1U << 0, event_log = 1U << 2, event_interrupt = 1U << 3, wait_interrupt = 1U << 4,
                          command_buffer = 1U << 12;
}
namespace status {
inline constexpr uint32_t event_overflow = 1U << 0, event_interrupt = 1U << 1, wait_interrupt = 1U << 2,
                          event_running = 1U << 3, command_running = 1U << 4;
}

/// Codes in bits 63:60 of an event's first word.
namespace event {
inline constexpr uint32_t illegal_command = 5, command_hardware_error = 6;
}

/// Command base for a ring of 2^log2 entries: 256 to 32768. Errors: out_of_range, misaligned (4 KiB).
constexpr result<uint64_t> make_command_base(uint64_t address, uint32_t log2) noexcept {
  if (log2 < 8) return refusal{cmdq::status::out_of_range, "log2_size", log2, 8};
  if (log2 > 15) return refusal{cmdq::status::out_of_range, "log2_size", log2, 15};
  if (address % 4096 != 0) return refusal{cmdq::status::misaligned, "address", address, 4096};
  return address | uint64_t{log2} << 56;
}

}  // namespace cmdq::amdvi::registers

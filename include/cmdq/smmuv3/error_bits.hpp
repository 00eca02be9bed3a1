// SPDX-License-Identifier: BSL-1.0
// The bits of CMDQ_CONS, GERROR and GERRORN that the queue reads itself (SMMUv3 register page 0).
#pragma once

#include <cmdq/core/position.hpp>

namespace cmdq {

/// CMDQ_CONS.ERR, bits 30:24. Stays after the error is acknowledged: active only while GERROR and GERRORN differ.
enum class cerror : uint8_t { none = 0, ill = 1, abt = 2, atc_inv = 3 };

constexpr uint32_t cons_error(uint32_t cons) noexcept { return (cons >> 24) & 0x7fU; }
constexpr bool shows_error(uint32_t cons) noexcept { return (cons & 0x7f000000U) != 0; }
constexpr uint32_t cons_position(uint32_t cons) noexcept { return cons & 0x00ffffffU; }

namespace gerror {
inline constexpr uint32_t cmdq_err = 1U << 0;
inline constexpr uint32_t evtq_abt = 1U << 2;
inline constexpr uint32_t priq_abt = 1U << 3;
inline constexpr uint32_t msi_cmdq_abt = 1U << 4;
inline constexpr uint32_t msi_evtq_abt = 1U << 5;
inline constexpr uint32_t msi_priq_abt = 1U << 6;
inline constexpr uint32_t msi_gerror_abt = 1U << 7;
inline constexpr uint32_t sfm = 1U << 8;  ///< service failure mode: the device has stopped for good
inline constexpr uint32_t mask = 0x1fdU;  ///< bit 1 is reserved
}  // namespace gerror

}  // namespace cmdq

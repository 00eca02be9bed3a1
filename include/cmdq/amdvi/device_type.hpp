// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq::amdvi {

/// What read_error() says. The code is in the event log, which is the driver's: who reads it passes on what it finds.
namespace command_error {
inline constexpr uint32_t none = 0;      ///< CmdBufRun is 1
inline constexpr uint32_t illegal = 5;   ///< stopped by ILLEGAL_COMMAND_ERROR
inline constexpr uint32_t hardware = 6;  ///< stopped by COMMAND_HARDWARE_ERROR
inline constexpr uint32_t stopped = 15;  ///< stopped, and no event says why
}  // namespace command_error

/// An AMD IOMMU as the queue sees it. write_prod() is the command tail, read_cons() the head. restart(): command buffer
/// off, head as given, command buffer on.
template <class D>
concept device_type = ring_device<D> && requires(D& d, uint32_t v) {
  { d.read_error() } -> cmdq::detail::same_as<uint32_t>;
  d.restart(v);
};

}  // namespace cmdq::amdvi

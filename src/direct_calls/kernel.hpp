// SPDX-License-Identifier: BSL-1.0
// What an indirect call in the DMA path costs: one packet of an XDP redirect maps and unmaps two buffers and makes some
// other indirect calls. The same text is compiled twice, as usual and with indirect branches that cannot be speculated
// (retpolines: -mindirect-branch=thunk, clang: -mretpoline).
#pragma once

#include <cstdint>

namespace cmdq::direct_calls {

/// How the DMA operations are reached.
enum class reach : std::uint8_t {
  statically,        ///< the mapper's type is known at compile time
  function_pointer,  ///< a table of functions in C's manner
  virtually,         ///< a virtual function
  handle,            ///< dma::handle, whose mapper is the common one
  handle_other,      ///< dma::handle with another mapper: through its table
};

struct packet_shape {
  unsigned pairs = 2;        ///< map + unmap pairs per packet
  unsigned other_calls = 0;  ///< further indirect calls per packet, always by pointer
  unsigned work = 0;         ///< rounds of other work per packet, a few ns each
};

using run_packets = std::uint64_t (*)(reach how, const packet_shape& shape, std::uint64_t packets);

/// Runs so many packets; returns a sum that keeps the compiler honest. Throws nothing.
std::uint64_t plain_packets(reach how, const packet_shape& shape, std::uint64_t packets);

/// One DMA operation, alone.
enum class operation : std::uint8_t {
  map_unmap,
  map_sg,      ///< map and unmap of a list of four segments
  sync,        ///< for the device and for the CPU
  alloc_free,  ///< refused by a device without an IOMMU: the call is what is measured
  refused,     ///< map of a device that must not do DMA
};
inline constexpr unsigned operation_count = 5;

using run_operation = std::uint64_t (*)(reach how, operation what, std::uint64_t times);
std::uint64_t plain_operation(reach how, operation what, std::uint64_t times);

#if defined(CMDQ_HAS_RETPOLINE)
std::uint64_t retpoline_operation(reach how, operation what, std::uint64_t times);
inline constexpr run_operation operation_with_retpoline = retpoline_operation;
std::uint64_t retpoline_packets(reach how, const packet_shape& shape, std::uint64_t packets);
inline constexpr bool has_retpoline = true;
inline constexpr run_packets with_retpoline = retpoline_packets;
#else
inline constexpr bool has_retpoline = false;
inline constexpr run_operation operation_with_retpoline = nullptr;
inline constexpr run_packets with_retpoline = nullptr;
#endif

}  // namespace cmdq::direct_calls

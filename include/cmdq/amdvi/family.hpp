// SPDX-License-Identifier: BSL-1.0
// The AMD IOMMU's command buffer as a device family: byte offsets without wrap bit, completion by the store of a
// COMPLETION_WAIT (that the head means more than fetched was read of no source).
#pragma once

#include <cmdq/amdvi/device_type.hpp>
#include <cmdq/amdvi/errors.hpp>
#include <cmdq/core/family.hpp>

namespace cmdq::amdvi {

struct limits {
  uint8_t output_bits = 52;
  bool iotlb = true;           ///< INVALIDATE_IOTLB_PAGES
  bool invalidate_all = true;  ///< INVALIDATE_IOMMU_ALL
  bool prefetch = true;        ///< PREFETCH_IOMMU_PAGES
  [[nodiscard]] constexpr bool restricts_commands() const noexcept { return !iotlb || !invalidate_all || !prefetch; }
};

enum class no_signal : uint8_t { none };

struct family {
  static constexpr const char* name = "amdvi";

  // --- 1. entry and geometry
  using command = cmdq::command;
  /// QEMU shows a head behind the last entry as the ring's end, not as its start.
  using positions = plain_positions<4, 1, true>;
  static constexpr uint32_t min_log2_size = 8;
  static constexpr uint32_t max_log2_size = 15;
  static constexpr uint32_t position_field(uint32_t head) noexcept { return head; }

  // --- 2. sync command
  static constexpr uint8_t ways = completes::in_word;
  static constexpr command harmless() noexcept { return make_harmless(); }
  static constexpr command sync_in_word(uint64_t address, uint32_t value) noexcept { return make_wait(address, value); }

  // --- 3. errors
  static constexpr bool shows_error(uint32_t) noexcept { return false; }
  static constexpr uint32_t error_code(uint32_t) noexcept { return 0; }
  static constexpr bool resumes_at_tail = true;
  template <class P>
  using errors = error_protocol<P>;

  // --- 4. commands and limits
  using limits = amdvi::limits;
  using signal = no_signal;
  static constexpr signal default_signal = no_signal::none;
  static constexpr command_class class_of(const command& c) noexcept {
    switch (opcode_of(c.word[0])) {
      case opcode::inv_devtab_entry:
      case opcode::inv_interrupt_table:
      case opcode::prefetch_iommu_pages:
        return command_class::configuration;
      case opcode::inv_iommu_pages:
      case opcode::inv_iommu_all:
        return command_class::tlb;
      case opcode::inv_iotlb_pages:
        return command_class::atc;
      case opcode::complete_ppr_request:
        return command_class::page_request;
      case opcode::completion_wait:
        return command_class::sync;
      default:
        return command_class::unknown;
    }
  }
  static constexpr bool is_sync(const command& c) noexcept { return opcode_of(c.word[0]) == opcode::completion_wait; }
  static constexpr bool answers_at_sync(const command& c) noexcept {
    return opcode_of(c.word[0]) == opcode::inv_iotlb_pages;
  }
  static command own_copy(const command& from) noexcept { return copy_once(from); }
  /// Errors: invalid_argument "opcode".
  static constexpr refusal permits(const limits& d, const command& c) noexcept {
    const uint32_t op = opcode_of(c.word[0]);
    const bool missing = (op == opcode::inv_iotlb_pages && !d.iotlb) ||
                         (op == opcode::inv_iommu_all && !d.invalidate_all) ||
                         (op == opcode::prefetch_iommu_pages && !d.prefetch);
    return missing ? refusal{status::invalid_argument, "opcode", op, 0} : refusal{};
  }
  static constexpr refusal check_signal(no_signal) noexcept { return {}; }
  static constexpr refusal check_device(const limits& d, no_signal, uint8_t, uint64_t address, uint64_t bytes,
                                        uint64_t words, uint64_t words_bytes) noexcept {
    if (d.output_bits > 52) return {status::out_of_range, "device.output_bits", d.output_bits, 52};
    const uint64_t reach = uint64_t{1} << d.output_bits;
    if (address >= reach || bytes > reach - address) return {status::out_of_range, "device_address", address, reach};
    if (words >= reach || words_bytes > reach - words) return {status::out_of_range, "done_address", words, reach};
    return {};
  }

  // --- 5. bring-up: amdvi::device
  template <class D>
  static constexpr bool drives = device_type<D>;
};

static_assert(device_family<family>);

}  // namespace cmdq::amdvi

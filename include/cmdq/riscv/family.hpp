// SPDX-License-Identifier: BSL-1.0
// The RISC-V IOMMU's command queue as a device family: indexes without wrap bit, completion by register (cqh has passed
// the IOFENCE.C) or by the fence's store. No emulator of it is in Debian 12: the modelled device is all that this was
// run on.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/riscv/device_type.hpp>
#include <cmdq/riscv/errors.hpp>

namespace cmdq::riscv {

struct limits {
  uint8_t output_bits = 56;  ///< capabilities.PAS
  bool ats = true;           ///< capabilities.ATS
  uint32_t most_pscid = 0xfffff;
  uint32_t most_gscid = 0xffff;
  [[nodiscard]] constexpr bool restricts_commands() const noexcept {
    return !ats || most_pscid < 0xfffff || most_gscid < 0xffff;
  }
};

enum class no_signal : uint8_t { none };

struct family {
  static constexpr const char* name = "riscv";

  // --- 1. entry and geometry
  using command = cmdq::command;
  /// Two stay free: a store may be seen before cqh has moved past its fence, by that one entry.
  using positions = plain_positions<0, 2>;
  static constexpr uint32_t min_log2_size = 2;
  static constexpr uint32_t max_log2_size = 19;  ///< the queue's limit; cqb.LOG2SZ goes to 32
  static constexpr uint32_t position_field(uint32_t cqh) noexcept { return cqh; }

  // --- 2. sync command
  static constexpr uint8_t ways = completes::by_register | completes::in_word;
  static constexpr command harmless() noexcept { return make_harmless(); }
  static constexpr command sync_by_register(no_signal) noexcept { return make_fence(); }
  static constexpr command sync_in_word(uint64_t address, uint32_t value) noexcept {
    return make_fence_to(address, value);
  }

  // --- 3. errors
  static constexpr bool shows_error(uint32_t) noexcept { return false; }
  static constexpr uint32_t error_code(uint32_t) noexcept { return 0; }
  template <class P>
  using errors = error_protocol<P>;

  // --- 4. commands and limits
  using limits = riscv::limits;
  using signal = no_signal;
  static constexpr signal default_signal = no_signal::none;
  static constexpr command_class class_of(const command& c) noexcept {
    switch (kind_of(c.word[0])) {
      case kinds::iotinval_vma:
      case kinds::iotinval_gvma:
        return command_class::tlb;
      case kinds::iodir_ddt:
      case kinds::iodir_pdt:
        return command_class::configuration;
      case kinds::ats_inval:
        return command_class::atc;
      case kinds::ats_prgr:
        return command_class::page_request;
      case kinds::iofence_c:
        return command_class::sync;
      default:
        return command_class::unknown;
    }
  }
  static constexpr bool is_sync(const command& c) noexcept { return kind_of(c.word[0]) == kinds::iofence_c; }
  static constexpr bool answers_at_sync(const command& c) noexcept { return kind_of(c.word[0]) == kinds::ats_inval; }
  static command own_copy(const command& from) noexcept { return copy_once(from); }
  /// Errors: invalid_argument "opcode" for ATS without it, out_of_range "pscid" and "gscid".
  static constexpr refusal permits(const limits& d, const command& c) noexcept {
    const uint64_t w = c.word[0];
    if ((w & 0x7fU) == opcode::ats && !d.ats) return {status::invalid_argument, "opcode", opcode::ats, 0};
    if (class_of(c) != command_class::tlb) return {};
    const uint64_t pscid = (w >> 12) & 0xfffffU;
    const uint64_t gscid = (w >> 44) & 0xffffU;
    if (pscid > d.most_pscid) return {status::out_of_range, "pscid", pscid, d.most_pscid};
    if (gscid > d.most_gscid) return {status::out_of_range, "gscid", gscid, d.most_gscid};
    return {};
  }
  static constexpr refusal check_signal(no_signal) noexcept { return {}; }
  static constexpr refusal check_device(const limits& d, no_signal, uint8_t wanted, uint64_t address, uint64_t bytes,
                                        uint64_t words, uint64_t words_bytes) noexcept {
    if (d.output_bits > 56) return {status::out_of_range, "device.output_bits", d.output_bits, 56};
    const uint64_t reach = uint64_t{1} << d.output_bits;
    if (address >= reach || bytes > reach - address) return {status::out_of_range, "device_address", address, reach};
    if ((wanted & completes::in_word) != 0 && (words >= reach || words_bytes > reach - words))
      return {status::out_of_range, "done_address", words, reach};
    return {};
  }

  // --- 5. bring-up: riscv::device
  template <class D>
  static constexpr bool drives = device_type<D>;
};

static_assert(device_family<family>);

}  // namespace cmdq::riscv

// SPDX-License-Identifier: BSL-1.0
// Intel VT-d's queued invalidation as a device family: descriptors of 128 bits, byte offsets without wrap bit, a head
// that moves when a descriptor is fetched (so completion only by the status write of a wait descriptor). Bring-up is in
// device.hpp, typed descriptors in commands.hpp.
#pragma once

#include <cmdq/core/family.hpp>
#include <cmdq/vtd/device_type.hpp>
#include <cmdq/vtd/errors.hpp>

namespace cmdq::vtd {

/// What a unit can do, as far as the queue refuses by it. The defaults refuse nothing that some unit could do.
struct limits {
  uint8_t output_bits = 52;        ///< bits of an address
  bool device_tlb = true;          ///< ECAP.DT
  bool interrupt_cache = true;     ///< ECAP.IR
  bool pasid = true;               ///< scalable mode: types 6 to 8
  uint8_t most_address_mask = 63;  ///< CAP.MAMV: largest AM of a page-selective IOTLB invalidation

  [[nodiscard]] constexpr bool restricts_commands() const noexcept {
    return !device_tlb || !interrupt_cache || !pasid || most_address_mask < 63;
  }
};

/// A wait descriptor has nothing to choose.
enum class no_signal : uint8_t { none };

struct family {
  static constexpr const char* name = "vtd";

  // --- 1. entry and geometry
  using command = cmdq::command;
  using positions = plain_positions<4>;
  static constexpr uint32_t min_log2_size = 8;   ///< IQA.QS = 0
  static constexpr uint32_t max_log2_size = 15;  ///< IQA.QS = 7
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
  using limits = vtd::limits;
  using signal = no_signal;
  static constexpr signal default_signal = no_signal::none;
  static constexpr command_class class_of(const command& c) noexcept {
    switch (type_of(c.word[0])) {
      case type::context_cache:
      case type::pasid_cache:
      case type::interrupt_cache:
        return command_class::configuration;
      case type::iotlb:
      case type::pasid_iotlb:
        return command_class::tlb;
      case type::device_tlb:
      case type::pasid_device_tlb:
        return command_class::atc;
      case type::wait:
        return command_class::sync;
      case type::page_group_response:
      case type::page_stream_response:
        return command_class::page_request;
      default:
        return command_class::unknown;
    }
  }
  static constexpr bool is_sync(const command& c) noexcept { return type_of(c.word[0]) == type::wait; }
  static constexpr bool answers_at_sync(const command& c) noexcept { return class_of(c) == command_class::atc; }
  static command own_copy(const command& from) noexcept { return copy_once(from); }
  /// Errors: invalid_argument "type" for one that the unit does not have, out_of_range "am".
  static constexpr refusal permits(const limits& d, const command& c) noexcept {
    const uint32_t t = type_of(c.word[0]);
    const bool pasid = t >= type::pasid_iotlb && t <= type::pasid_device_tlb;
    if ((t == type::device_tlb && !d.device_tlb) || (t == type::interrupt_cache && !d.interrupt_cache) ||
        (pasid && !d.pasid))
      return {status::invalid_argument, "type", t, 0};
    const uint64_t am = c.word[1] & 0x3fU;
    const bool pages = t == type::iotlb && ((c.word[0] >> 4) & 3U) == 3;
    if (pages && am > d.most_address_mask) return {status::out_of_range, "am", am, d.most_address_mask};
    return {};
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

  // --- 5. bring-up: vtd::device
  template <class D>
  static constexpr bool drives = device_type<D>;
};

static_assert(device_family<family>);

}  // namespace cmdq::vtd

// SPDX-License-Identifier: BSL-1.0
// Devices behind the address space that keep translations of their own (PCIe ATS): who they are, and the ATC_INV that
// drops a range from each.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/platform/concepts.hpp>
#include <cmdq/smmuv3/commands.hpp>

namespace cmdq::dma {

/// A stream whose device has an ATC.
struct atc_stream {
  uint32_t sid = 0;
  uint32_t ssid = 0;      ///< 20 bits; meaningful with has_ssid only
  bool has_ssid = false;  ///< its requests carry a substream id (PASID)
  friend constexpr bool operator==(const atc_stream&, const atc_stream&) = default;
};

/// SIZE of an ATC_INV that drops everything.
inline constexpr uint32_t atc_everything = 52;

/// ATC_INV for [start, start + bytes): the smallest naturally aligned power of two of pages around it, since that is
/// what the command can name. bytes > 0 and no wrap; else everything.
constexpr command atc_command(const atc_stream& to, uint64_t start, uint64_t bytes) noexcept {
  uint32_t size = atc_everything;
  if (bytes != 0 && start + (bytes - 1) >= start) {
    const uint64_t differ = (start >> 12) ^ ((start + (bytes - 1)) >> 12);
    size = differ == 0 ? 0 : 64 - static_cast<uint32_t>(__builtin_clzll(differ));
  }
  const uint64_t addr = size >= atc_everything ? 0 : start >> (12 + size) << (12 + size);
  smmuv3::atc_inv c;
  c.ssv = to.has_ssid;
  c.ssid = to.has_ssid ? to.ssid : 0;
  c.sid = to.sid;
  c.addr = addr;
  c.size = size;
  return *smmuv3::encode(c);
}

/// The streams of an address space. Attaching and detaching: one thread at a time; reading: anybody.
template <platform_type P>
class atc_streams {
 public:
  static constexpr uint32_t most = 16;

  /// From here on each invalidation that begins after the device can have cached anything names it: attach a stream
  /// before its device is told to use ATS. Errors: out_of_range (ssid), no_space (`most` are attached),
  /// invalid_argument (it is).
  status attach(const atc_stream& s) noexcept {
    if (s.ssid >> 20 != 0) return status::out_of_range;
    if (find(packed(s)) != most) return status::invalid_argument;
    const uint32_t free = find(0);
    if (free == most) return status::no_space;
    word_[free].store(packed(s), at<site::atc_attach>);
    P::fence(at<site::atc_attach_fence>);  // [A] the device walks the table after an unmap can see it here
    return status::ok;
  }

  /// After the device was told to use ATS no more. Errors: invalid_argument (not attached).
  status detach(const atc_stream& s) noexcept {
    const uint32_t i = find(packed(s));
    if (i == most) return status::invalid_argument;
    word_[i].store(0, at<site::atc_attach>);
    return status::ok;
  }

  /// Calls `use(stream)` for each. Precondition: the page-table entries in question are cleared.
  template <class Use>
  void each(const Use& use) const noexcept {
    P::fence(at<site::atc_look_fence>);  // [A]
    for (uint32_t i = 0; i < most; ++i) {
      const uint64_t w = word_[i].load(at<site::atc_look>);
      if (w != 0) use(unpacked(w));
    }
  }

 private:
  static constexpr uint64_t attached = uint64_t{1} << 63;
  static constexpr uint64_t with_ssid = uint64_t{1} << 62;
  static constexpr uint64_t packed(const atc_stream& s) noexcept {
    return attached | (s.has_ssid ? with_ssid | uint64_t{s.ssid} << 32 : 0) | s.sid;
  }
  static constexpr atc_stream unpacked(uint64_t w) noexcept {
    return {static_cast<uint32_t>(w), static_cast<uint32_t>(w >> 32) & 0xfffffU, (w & with_ssid) != 0};
  }
  [[nodiscard]] uint32_t find(uint64_t w) const noexcept {
    uint32_t i = 0;
    while (i < most && word_[i].load(at<site::atc_look>) != w) ++i;
    return i;
  }
  typename P::template atomic<uint64_t> word_[most];
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// A device that lies: wraps any device and changes what the CPU reads, by a seed or by a function of the user.
#pragma once

#include <stdint.h>

#include <cmdq/smmuv3/device_type.hpp>
#include <cmdq/smmuv3/error_bits.hpp>

namespace cmdq::model {

enum class lie : uint8_t {
  none,
  cons_outside,  ///< CONS anywhere in its 20 bits, every other read
  cons_back,     ///< CONS a few entries behind the truth
  error_codes,   ///< CONS.ERR and GERROR with random bits
  gone,          ///< every register reads as ones: the device has left the bus
  anything,      ///< every register reads as 32 random bits
  by_user,       ///< what the user's function says
};

enum class lied_register : uint8_t { cons, gerror, gerrorn };

/// Satisfies device_type. Reads may come from any thread: the draws are numbered by one atomic counter, so a run with
/// one thread repeats exactly from its seed.
template <platform_type P, device_type Device>
class hostile_device {
 public:
  /// Returns the value to show; gets the honest one.
  using function = uint32_t (*)(void* context, lied_register which, uint32_t honest);

  hostile_device(Device& honest, lie kind, uint32_t seed) noexcept : device_(honest), kind_(kind), draws_(seed) {}
  hostile_device(Device& honest, function f, void* context) noexcept
      : device_(honest), kind_(lie::by_user), function_(f), context_(context), draws_(0) {}

  /// From now on. Only while nobody reads.
  void set(lie kind) noexcept { kind_ = kind; }

  void write_prod(uint32_t v) noexcept { device_.write_prod(v); }
  void write_gerrorn(uint32_t v) noexcept { device_.write_gerrorn(v); }
  [[nodiscard]] uint32_t read_cons() noexcept { return shown(lied_register::cons, device_.read_cons()); }
  [[nodiscard]] uint32_t read_gerror() noexcept { return shown(lied_register::gerror, device_.read_gerror()); }
  [[nodiscard]] uint32_t read_gerrorn() noexcept { return shown(lied_register::gerrorn, device_.read_gerrorn()); }

 private:
  uint32_t shown(lied_register which, uint32_t honest) noexcept {
    const bool cons = which == lied_register::cons;
    switch (kind_) {
      case lie::none:
        return honest;
      case lie::cons_outside:
        return cons && draw() % 2 == 0 ? draw() & 0xfffffU : honest;
      case lie::cons_back:
        return cons ? (honest & 0xff000000U) | ((honest - draw() % 4) & 0xfffffU) : honest;
      case lie::error_codes:
        if (cons) return (honest & 0xfffffU) | (draw() & 0x7f000000U);
        return which == lied_register::gerror ? honest ^ (draw() & gerror::mask) : honest;
      case lie::gone:
        return device_gone;
      case lie::anything:
        return draw();
      default:
        return function_(context_, which, honest);
    }
  }

  /// splitmix64, cut to 32 bits.
  uint32_t draw() noexcept {
    uint64_t z = (draws_.fetch_add(1, at<site::device_hold>) + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<uint32_t>(z >> 32);
  }

  Device& device_;
  lie kind_;
  function function_ = nullptr;
  void* context_ = nullptr;
  typename P::template atomic<uint64_t> draws_;
};

}  // namespace cmdq::model

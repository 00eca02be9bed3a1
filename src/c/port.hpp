// SPDX-License-Identifier: BSL-1.0
// The platform and the device behind the C interface: compiler builtins and functions that the C program gives.
#pragma once

#include <cmdq/c/cmdq.h>
#include <cmdq/platform/builtins.hpp>
#include <cmdq/smmuv3/device_type.hpp>

namespace cmdq::c {

struct hooks {
  static uint64_t now_ns() noexcept { return cmdq_port_now_ns(); }
  static void pause(const void*, unsigned round) noexcept { cmdq_port_pause(round); }
  static void yield() noexcept {}
  class critical_section {
   public:
    critical_section() noexcept : before_(cmdq_port_enter()) {}
    ~critical_section() { cmdq_port_leave(before_); }
    critical_section(const critical_section&) = delete;
    critical_section& operator=(const critical_section&) = delete;

   private:
    uintptr_t before_;
  };
};

struct platform : cmdq::platform::builtins_with<hooks> {
  static uint32_t index() noexcept { return cmdq_port_cpu(); }
};

struct device {
  cmdq_device d;
  void write_prod(uint32_t v) noexcept { d.write_prod(d.context, v); }
  [[nodiscard]] uint32_t read_cons() noexcept { return d.read_cons(d.context); }
  [[nodiscard]] uint32_t read_gerror() noexcept { return d.read_gerror(d.context); }
  [[nodiscard]] uint32_t read_gerrorn() noexcept { return d.read_gerrorn(d.context); }
  void write_gerrorn(uint32_t v) noexcept { d.write_gerrorn(d.context, v); }
};
static_assert(placed_platform<platform> && device_type<device>);

}  // namespace cmdq::c

// SPDX-License-Identifier: BSL-1.0
// A device with a ring and the smallest possible driver in front of it, for tests of the model itself.
#pragma once

#include <cmdq/model/hardware.hpp>
#include <cmdq/platform/ring_entry.hpp>
#include <cmdq/platform/std_atomic.hpp>
#include <cmdq/smmuv3/commands.hpp>
#include <vector>

#include "support/test.hpp"

namespace cmdq::test {

using platform_t = platform::std_atomic;
using entry_t = ring_entry<platform_t>;
inline constexpr uint64_t ring_base = 0x4000'0000;

struct execution {
  position at = 0;
  command what;
};

/// What happened, in order.
struct observer : model::null_hooks {
  struct log {
    std::vector<execution> executed;
    std::vector<command> effects;
    std::vector<execution> failed;
    unsigned events = 0;
    unsigned wired = 0;
    std::vector<uint64_t> external;
    bool accept_external = true;
  };
  log* to = nullptr;
  void executed(position at, const command& c, uint64_t) noexcept { to->executed.push_back({at, c}); }
  void effect(const command& c) noexcept { to->effects.push_back(c); }
  void failed(position at, const command& c, cerror) noexcept { to->failed.push_back({at, c}); }
  void event() noexcept { ++to->events; }
  void wired_interrupt() noexcept { ++to->wired; }
  bool external_write(uint64_t address, uint64_t data, unsigned) noexcept {
    if (to->accept_external) to->external.push_back(address ^ data);
    return to->accept_external;
  }
};

using device_t = model::hardware<platform_t, entry_t, observer>;

struct rig {
  explicit rig(uint32_t log2 = 3, model::device_drive drive = model::device_drive::stepped,
               const model::capabilities& caps = {}, position start = 0)
      : shape{log2}, entries(shape.entries()), device(drive, caps, hooks()), prod(start) {
    CMDQ_CHECK_EQ(device.attach(entries.data(), log2, ring_base, start), status::ok);
  }
  observer hooks() {
    observer o;
    o.to = &log;
    return o;
  }
  uint64_t address(position p) const { return ring_base + 16ULL * shape.slot(p); }
  /// Writes entries without telling the device.
  void put(const command& c) { entries[shape.slot(prod++)].put(c); }
  void tell() { device.write_prod(shape.to_register(prod)); }
  void give(const command& c) {
    put(c);
    tell();
  }
  uint32_t cons_index() { return cons_position(device.read_cons()); }
  bool error_active() { return ((device.read_gerror() ^ device.read_gerrorn()) & gerror::cmdq_err) != 0; }
  void acknowledge() { device.write_gerrorn(device.read_gerror()); }

  geometry shape;
  std::vector<entry_t> entries;
  observer::log log;
  device_t device;
  position prod;
};

template <class T>
command made(const T& typed) {
  const auto c = smmuv3::encode(typed);
  CMDQ_CHECK(c.ok());
  return *c;
}
inline command tlbi(uint64_t page) { return made(smmuv3::tlbi_nh_va{.vmid = 1, .asid = 2, .addr = page << 12}); }
inline command bad() { return {{0xff, 0}}; }

}  // namespace cmdq::test

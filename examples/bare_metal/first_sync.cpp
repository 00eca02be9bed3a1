// SPDX-License-Identifier: BSL-1.0
// The smallest driver: bring the SMMU up, hand it two lists by hand (invalidate all configuration, invalidate all TLBs,
// each with a CMD_SYNC), see that it consumed them. What a driver does before it trusts the device, without the queue.
#include "board/board.hpp"

#include <cmdq/platform/aarch64.hpp>
#include <cmdq/smmuv3/device.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace {

using platform = cmdq::platform::aarch64::bare_metal;

constexpr uint32_t ring_log2 = 16;
alignas(16 << ring_log2) __attribute__((section(".noinit"))) cmdq::command ring[1 << ring_log2];

constexpr cmdq::command cfgi_all{{0x04, 31}};
constexpr cmdq::command tlbi_nsnh_all{{0x30, 0}};

template <class Device>
bool consume(Device& device, uint32_t at, cmdq::command command) {
  ring[at] = command;
  ring[at + 1] = cmdq::make_sync(cmdq::sync_signal::none);
  device.write_prod(at + 2);
  const uint64_t end = platform::now_ns() + board::patience_ns;
  while (device.read_cons() != at + 2) {
    if (platform::now_ns() > end) return false;
    platform::pause(nullptr, 0);
  }
  return device.active_errors() == 0;
}

template <class Device>
bool run(const char* access) {
  Device device({board::smmu_base});
  const auto up = device.template bring_up<platform>(
      {.queue_base = reinterpret_cast<uint64_t>(ring), .queue_log2 = ring_log2, .timeout_ns = board::patience_ns});
  board::print(access);
  if (!up) {
    board::print(": bring-up failed: ");
    board::print(cmdq::name(up.code()));
    board::print(", ");
    board::print(up.why().field);
    board::print(" is ");
    board::print_hex(up.why().value);
    board::print(", wanted ");
    board::print_hex(up.why().limit);
    board::print("\n");
    return false;
  }
  const bool ok = consume(device, 0, cfgi_all) && consume(device, 2, tlbi_nsnh_all);
  board::print(ok ? ": two lists consumed, ring of up to 2^" : ": lists not consumed, ring of up to 2^");
  board::print_number(up->max_log2_size);
  board::print(up->range ? " entries, range invalidation\n" : " entries\n");
  return ok;
}

}  // namespace

int main() {
  const bool ok = run<cmdq::smmuv3::device<cmdq::platform::mmio64>>("64-bit accesses") &&
                  run<cmdq::smmuv3::device<cmdq::platform::mmio32>>("32-bit accesses");
  board::print(ok ? "first_sync: ok\n" : "first_sync: failed\n");
  return ok ? 0 : 1;
}

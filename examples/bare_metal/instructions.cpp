// SPDX-License-Identifier: BSL-1.0
// Register accesses and clock readings on their own, for scripts/check_instructions.py: what the compiler makes of them
// where it knows the value.
#include <cmdq/platform/aarch64.hpp>

extern "C" {
void store_zero32(uintptr_t base) { cmdq::platform::mmio64{base}.write32(0x20, 0); }
void store_zero64(uintptr_t base) { cmdq::platform::mmio64{base}.write64(0x90, 0); }
void store_zero_halves(uintptr_t base) { cmdq::platform::mmio32{{base}}.write64(0x90, 0); }
uint32_t load32(uintptr_t base) { return cmdq::platform::mmio64{base}.read32(0x9c); }
uint64_t read_clock() { return cmdq::platform::aarch64::bare_metal::now_ns(); }
}

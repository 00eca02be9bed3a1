// SPDX-License-Identifier: BSL-1.0
// What the examples need of QEMU's virt machine: console, CPU start, exit. No library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace board {

inline constexpr uintptr_t uart_base = 0x09000000;
inline constexpr uintptr_t smmu_base = 0x09050000;
inline constexpr uint64_t unbacked_address = 0x3000000000;  ///< nothing answers there: a fetch aborts
inline constexpr uint32_t cpus_per_cluster = 16;
inline constexpr uint32_t max_cpus = 128;
inline constexpr uint64_t patience_ns = 600'000'000'000;  ///< for answers that come at once unless the host is busy

/// Console output by one CPU at a time. A number is padded on the left to `width`.
void print(const char* text);
void print_padded(const char* text, unsigned width);
void print_number(uint64_t n, unsigned width = 0);
void print_hex(uint64_t n);

/// Starts CPU `index` at cpu_main(index). PSCI's answer: 0, or negative (-2: no such CPU).
int64_t start_cpu(uint32_t index);

/// Ends QEMU with this exit status.
[[noreturn]] void exit(int code);

}  // namespace board

extern "C" {
int main();
void cpu_main(uint32_t index);
[[noreturn]] void semihosting_exit(int code);
[[noreturn]] void report_exception(uint64_t syndrome, uint64_t address, uint64_t fault_address);
void* memcpy(void* to, const void* from, size_t n);
void* memset(void* to, int value, size_t n);
}

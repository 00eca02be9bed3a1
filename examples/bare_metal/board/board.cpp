// SPDX-License-Identifier: BSL-1.0
#include "board.hpp"

namespace board {
namespace {

void put(char c) {
  auto* const data = reinterpret_cast<volatile uint32_t*>(uart_base);
  auto* const flags = reinterpret_cast<volatile uint32_t*>(uart_base + 0x18);
  while ((*flags & (1U << 5)) != 0) {  // transmit FIFO full
  }
  *data = static_cast<uint8_t>(c);
}

}  // namespace

void print(const char* text) {
  for (; *text != '\0'; ++text) put(*text);
}

void print_padded(const char* text, unsigned width) {
  unsigned n = 0;
  for (; text[n] != '\0'; ++n) put(text[n]);
  for (; n < width; ++n) put(' ');
}

void print_number(uint64_t n, unsigned width) {
  char digits[20];
  unsigned count = 0;
  do {
    digits[count++] = static_cast<char>('0' + n % 10);
    n /= 10;
  } while (n != 0);
  for (unsigned i = count; i < width; ++i) put(' ');
  while (count != 0) put(digits[--count]);
}

void print_hex(uint64_t n) {
  print("0x");
  bool started = false;
  for (int shift = 60; shift >= 0; shift -= 4) {
    const auto digit = static_cast<unsigned>((n >> shift) & 15U);
    started = started || digit != 0 || shift == 0;
    if (started) put("0123456789abcdef"[digit]);
  }
}

extern "C" void secondary_start();

int64_t start_cpu(uint32_t index) {
  register uint64_t x0 __asm__("x0") = 0xc4000003;  // PSCI CPU_ON, 64-bit
  register uint64_t x1 __asm__("x1") = (uint64_t{index / cpus_per_cluster} << 8) | index % cpus_per_cluster;
  register uint64_t x2 __asm__("x2") = reinterpret_cast<uint64_t>(&secondary_start);
  register uint64_t x3 __asm__("x3") = index;
  __asm__ __volatile__("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
  return static_cast<int64_t>(x0);
}

void exit(int code) { semihosting_exit(code); }

}  // namespace board

extern "C" {

void semihosting_exit(int code) {
  // SYS_EXIT with ADP_Stopped_ApplicationExit and the code.
  uint64_t block[2] = {0x20026, static_cast<uint64_t>(code)};
  register uint64_t w0 __asm__("x0") = 0x18;
  register uint64_t* x1 __asm__("x1") = block;
  __asm__ __volatile__("hlt #0xf000" ::"r"(w0), "r"(x1) : "memory");
  for (;;) __asm__ __volatile__("wfi");
}

void report_exception(uint64_t syndrome, uint64_t address, uint64_t fault_address) {
  board::print("exception: ESR ");
  board::print_hex(syndrome);
  board::print(" at ");
  board::print_hex(address);
  board::print(" for address ");
  board::print_hex(fault_address);
  board::print("\n");
  semihosting_exit(3);
}

// Compiled without loop-pattern replacement (see CMakeLists.txt): the compiler must not turn these into themselves.
void* memcpy(void* to, const void* from, size_t n) {
  auto* d = static_cast<unsigned char*>(to);
  const auto* s = static_cast<const unsigned char*>(from);
  for (size_t i = 0; i < n; ++i) d[i] = s[i];
  return to;
}

void* memset(void* to, int value, size_t n) {
  auto* d = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < n; ++i) d[i] = static_cast<unsigned char>(value);
  return to;
}
}

// SPDX-License-Identifier: BSL-1.0
// Access to device registers, and the barriers between memory and a device. Both are policies of the device driver:
// a bus that cannot do 64-bit accesses, a register block behind an indirection, or an architecture not named here
// brings its own.
#pragma once

#include <stdint.h>

namespace cmdq::platform {

/// Barriers between normal memory and a device that reads it coherently.
///  - before_write(): what this CPU loaded and stored before is done when the register write that follows is seen.
///  - after_read(): what this CPU loads and stores afterwards comes after the register read.
/// A device that does not snoop the caches (SMMUv3 IDR0.COHACC = 0) needs uncached queue memory besides.
struct io_barriers {
#if defined(__aarch64__)
  // Outer shareable: the device need not be in the CPUs' inner domain, so the fences of the C++ model (ISH) are not
  // enough. Not DSB: the order is asked for, not the completion.
  static void before_write() noexcept { __asm__ __volatile__("dmb osh" ::: "memory"); }
  static void after_read() noexcept { __asm__ __volatile__("dmb oshld" ::: "memory"); }
#elif defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7
  static void before_write() noexcept { __asm__ __volatile__("dmb osh" ::: "memory"); }
  static void after_read() noexcept { __asm__ __volatile__("dmb osh" ::: "memory"); }
#elif defined(__x86_64__) || defined(__i386__)
  // Uncached accesses are strongly ordered; only the compiler has to be held.
  static void before_write() noexcept { __asm__ __volatile__("" ::: "memory"); }
  static void after_read() noexcept { __asm__ __volatile__("" ::: "memory"); }
#elif defined(__riscv)
  // Memory accesses (r, w) and those of devices (i, o) are ordered apart from each other.
  static void before_write() noexcept { __asm__ __volatile__("fence rw, ow" ::: "memory"); }
  static void after_read() noexcept { __asm__ __volatile__("fence ir, iorw" ::: "memory"); }
#elif defined(__powerpc64__)
  // Only the heavy sync orders accesses to caching-inhibited storage and to memory against each other.
  static void before_write() noexcept { __asm__ __volatile__("sync" ::: "memory"); }
  static void after_read() noexcept { __asm__ __volatile__("sync" ::: "memory"); }
#else
  template <class T = void>
  static void before_write() noexcept {
    static_assert(sizeof(T*) == 0,
                  "cmdq knows no barriers between memory and a device for this processor: give "
                  "smmuv3::device<Registers, Barriers> a type with before_write() and after_read()");
  }
  template <class T = void>
  static void after_read() noexcept {
    before_write<T>();
  }
#endif
};

/// Memory-mapped registers with 32-bit and 64-bit accesses. Costs one uncached access each; no barrier.
struct mmio64 {
  uintptr_t base = 0;

  [[nodiscard]] uint32_t read32(uint32_t offset) const noexcept {
#if defined(__aarch64__)
    // One plain load: a hypervisor cannot emulate the post-indexed forms that a compiler may choose.
    uint32_t v;
    __asm__ __volatile__("ldr %w0, [%1]" : "=r"(v) : "r"(base + offset) : "memory");
    return v;
#else
    return *reinterpret_cast<const volatile uint32_t*>(base + offset);
#endif
  }
  void write32(uint32_t offset, uint32_t v) const noexcept {
#if defined(__aarch64__)
    // A zero too comes from an ordinary register ("r", not "rZ"): hypervisors are known to mishandle a trapped store
    // from the zero register.
    __asm__ __volatile__("str %w0, [%1]" ::"r"(v), "r"(base + offset) : "memory");
#else
    *reinterpret_cast<volatile uint32_t*>(base + offset) = v;
#endif
  }
  /// On a 32-bit processor two accesses, in an order that the compiler chooses: take mmio32 there.
  void write64(uint32_t offset, uint64_t v) const noexcept {
#if defined(__aarch64__)
    __asm__ __volatile__("str %x0, [%1]" ::"r"(v), "r"(base + offset) : "memory");
#else
    *reinterpret_cast<volatile uint64_t*>(base + offset) = v;
#endif
  }
};

/// The same registers on a bus without 64-bit accesses: low half first (SMMUv3 allows it for its 64-bit registers).
struct mmio32 : mmio64 {
  void write64(uint32_t offset, uint64_t v) const noexcept {
    write32(offset, static_cast<uint32_t>(v));
    write32(offset + 4, static_cast<uint32_t>(v >> 32));
  }
};

/// What a register block must offer. Offsets are in bytes from the block's base.
template <class R>
concept register_block = requires(R& r, uint32_t offset, uint32_t v, uint64_t w) {
  static_cast<uint32_t>(r.read32(offset));
  r.write32(offset, v);
  r.write64(offset, w);
};

static_assert(register_block<const mmio64> && register_block<const mmio32>);

}  // namespace cmdq::platform

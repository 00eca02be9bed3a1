// SPDX-License-Identifier: BSL-1.0
// Memory that the user supplies. The DMA layer never allocates: whatever it needs is cut from an arena when it is set
// up, and a thing that does not fit is refused (a flush queue that does not fit leaves the mapper in strict mode).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace cmdq::dma {
/// Where an object is built. <new> would be a library's header.
struct placement {
  void* memory;
};
}  // namespace cmdq::dma

inline void* operator new(size_t, cmdq::dma::placement where) noexcept { return where.memory; }

namespace cmdq::dma {

/// Hands out pieces of one block, front to back. Not for concurrent use. Pieces live as long as the block.
class arena {
 public:
  constexpr arena() noexcept = default;
  arena(void* base, size_t bytes) noexcept : next_(reinterpret_cast<uintptr_t>(base)), end_(next_ + bytes) {}

  /// `n` default-constructed T, aligned for T; nullptr (and nothing taken) when they do not fit or n is 0.
  template <class T>
  T* take(size_t n) noexcept {
    const uintptr_t start = (next_ + alignof(T) - 1) & ~static_cast<uintptr_t>(alignof(T) - 1);
    if (n == 0 || start < next_ || start > end_ || n > (end_ - start) / sizeof(T)) return nullptr;
    next_ = start + n * sizeof(T);
    T* const first = reinterpret_cast<T*>(start);
    for (size_t i = 0; i < n; ++i) new (placement{first + i}) T();
    return first;
  }

  [[nodiscard]] size_t left() const noexcept { return end_ - next_; }

 private:
  uintptr_t next_ = 0;
  uintptr_t end_ = 0;
};

}  // namespace cmdq::dma

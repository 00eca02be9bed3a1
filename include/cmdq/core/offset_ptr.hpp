// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdint.h>

namespace cmdq {

/// A pointer that says how far its object is from itself: right in every process that has mapped both, in one block of
/// memory, at whatever address. Works for any two objects of one process as well. Copies point to the same object.
/// Cost: one addition more than a pointer, which addressing modes mostly hide.
template <class T>
class offset_ptr {
 public:
  offset_ptr() noexcept = default;
  explicit offset_ptr(T* to) noexcept : distance_(distance(to)) {}
  offset_ptr(const offset_ptr& other) noexcept : distance_(distance(other.get())) {}
  offset_ptr& operator=(const offset_ptr& other) noexcept {
    distance_ = distance(other.get());
    return *this;
  }
  ~offset_ptr() = default;

  [[nodiscard]] T* get() const noexcept {
    return distance_ == null ? nullptr : reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(this) + distance_);
  }
  /// Precondition for all of them: it points to something.
  [[nodiscard]] T& operator*() const noexcept {
    return *reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(this) + distance_);
  }
  [[nodiscard]] T* operator->() const noexcept { return &**this; }
  [[nodiscard]] T& operator[](uint32_t i) const noexcept { return (&**this)[i]; }

 private:
  static constexpr uintptr_t null = 1;  ///< nothing that is pointed to lies inside the pointer

  // Integers, not differences of pointers: a compiler may assume that the latter stay within one object.
  [[nodiscard]] uintptr_t distance(const T* to) const noexcept {
    return to == nullptr ? null : reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(this);
  }

  uintptr_t distance_ = null;
};

}  // namespace cmdq

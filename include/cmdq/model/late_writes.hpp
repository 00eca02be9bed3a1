// SPDX-License-Identifier: BSL-1.0
// MSI writes that are under way: a fixed queue in order of issue, each with the step at which it arrives.
#pragma once

#include <stdint.h>

namespace cmdq::model {

struct late_write {
  uint64_t address = 0;
  uint64_t data = 0;
  uint64_t due_step = 0;
};

class late_writes {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool full() const noexcept { return count_ == capacity; }
  [[nodiscard]] bool due(uint64_t step) const noexcept { return count_ != 0 && slots_[first_].due_step <= step; }
  /// Precondition: !full().
  void push(const late_write& w) noexcept { slots_[(first_ + count_++) % capacity] = w; }
  /// Precondition: !empty().
  late_write pop() noexcept {
    const late_write w = slots_[first_];
    first_ = (first_ + 1) % capacity;
    --count_;
    return w;
  }
  void clear() noexcept { first_ = count_ = 0; }

 private:
  static constexpr uint32_t capacity = 32;
  late_write slots_[capacity] = {};
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

}  // namespace cmdq::model

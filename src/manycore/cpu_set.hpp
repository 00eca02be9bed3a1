// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "topology.hpp"

namespace cmdq::manycore {

/// A set of CPUs by number.
class cpu_set {
 public:
  void add(unsigned cpu) noexcept { words_[cpu / 64] |= 1ULL << (cpu % 64); }
  void remove(unsigned cpu) noexcept { words_[cpu / 64] &= ~(1ULL << (cpu % 64)); }
  void clear() noexcept { words_ = {}; }
  [[nodiscard]] bool has(unsigned cpu) const noexcept { return ((words_[cpu / 64] >> (cpu % 64)) & 1U) != 0; }
  [[nodiscard]] bool empty() const noexcept { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  [[nodiscard]] bool meets(const cpu_set& o) const noexcept {
    return ((words_[0] & o.words_[0]) | (words_[1] & o.words_[1]) | (words_[2] & o.words_[2]) |
            (words_[3] & o.words_[3])) != 0;
  }
  [[nodiscard]] bool within(const cpu_set& o) const noexcept {
    return ((words_[0] & ~o.words_[0]) | (words_[1] & ~o.words_[1]) | (words_[2] & ~o.words_[2]) |
            (words_[3] & ~o.words_[3])) == 0;
  }
  template <class F>
  void for_each(F f) const {
    for (unsigned w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        f(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
  }

 private:
  static_assert(max_cpus == 256);
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace cmdq::manycore

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdint.h>

namespace cmdq::stats {

/// Counts values by powers of two: bucket b holds values of bit width b, bucket 0 the zeroes. Plain words, one writer.
class histogram {
 public:
  static constexpr unsigned buckets = 65;

  constexpr void add(uint64_t value) noexcept { ++n_[width(value)]; }
  [[nodiscard]] constexpr uint64_t in(unsigned bucket) const noexcept { return n_[bucket]; }
  /// Largest value that falls into a bucket.
  [[nodiscard]] static constexpr uint64_t upper(unsigned bucket) noexcept {
    return bucket >= 64 ? ~uint64_t{0} : (uint64_t{1} << bucket) - 1;
  }
  [[nodiscard]] constexpr uint64_t total() const noexcept {
    uint64_t sum = 0;
    for (const uint64_t n : n_) sum += n;
    return sum;
  }
  /// Upper bound of the bucket that holds the value of rank `permille` / 1000; 0 when empty.
  [[nodiscard]] constexpr uint64_t quantile(unsigned permille) const noexcept {
    const uint64_t all = total();
    uint64_t seen = 0;
    for (unsigned b = 0; b < buckets; ++b) {
      seen += n_[b];
      if (all != 0 && seen * 1000 >= all * permille) return upper(b);
    }
    return 0;
  }
  constexpr histogram& operator+=(const histogram& other) noexcept {
    for (unsigned b = 0; b < buckets; ++b) n_[b] += other.n_[b];
    return *this;
  }

 private:
  static constexpr unsigned width(uint64_t v) noexcept {
    unsigned w = 0;
    for (; v != 0; v >>= 1) ++w;
    return w;
  }
  uint64_t n_[buckets] = {};
};

}  // namespace cmdq::stats

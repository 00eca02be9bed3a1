// SPDX-License-Identifier: BSL-1.0
// Latencies in buckets of 1/32 of their value: fixed memory, so that recording costs the same all along a run.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace bench {

namespace detail {
inline constexpr unsigned fine = 5;  // log2 of the buckets per power of two
constexpr std::size_t bucket(std::uint64_t v) {
  if (v < (1U << fine)) return static_cast<std::size_t>(v);
  const auto shift = static_cast<unsigned>(std::bit_width(v)) - 1 - fine;
  return (static_cast<std::size_t>(shift) << fine) + static_cast<std::size_t>(v >> shift);
}
constexpr std::uint64_t upper(std::size_t b) {
  if (b < (2U << fine)) return b;
  const std::size_t shift = (b >> fine) - 1;
  return ((static_cast<std::uint64_t>(b - (shift << fine)) + 1) << shift) - 1;
}
static_assert(upper(bucket(1'000'000)) >= 1'000'000 && upper(bucket(1'000'000)) < 1'040'000);
static_assert(bucket(upper(700)) == 700 && bucket(upper(700) + 1) == 701);
}  // namespace detail

class latencies {
 public:
  void add(std::uint64_t ns) {
    ++n_[detail::bucket(ns)];
    ++total_;
    if (ns > max_) max_ = ns;
  }
  latencies& operator+=(const latencies& other) {
    for (std::size_t i = 0; i < n_.size(); ++i) n_[i] += other.n_[i];
    total_ += other.total_;
    if (other.max_ > max_) max_ = other.max_;
    return *this;
  }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  /// Largest value of the bucket in which rank `share` lies (0.999: of a thousand, one is above); at most 3 % too high.
  [[nodiscard]] std::uint64_t quantile(double share) const {
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < n_.size(); ++i) {
      seen += n_[i];
      if (seen > rank) return detail::upper(i) < max_ ? detail::upper(i) : max_;
    }
    return max_;
  }

 private:
  std::vector<std::uint64_t> n_ = std::vector<std::uint64_t>(detail::bucket(~std::uint64_t{0}) + 1);
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace bench

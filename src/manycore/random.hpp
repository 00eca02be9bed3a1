// SPDX-License-Identifier: BSL-1.0
// Random numbers that are the same on every host: integers only, no <random>, no floating point.
#pragma once

#include <array>
#include <cstdint>

namespace cmdq::manycore {

/// xoshiro256** seeded by splitmix64 (Blackman and Vigna; both are in the public domain).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept {
    for (auto& s : state_) s = split_mix(seed);
  }

  std::uint64_t next() noexcept {
    const std::uint64_t out = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return out;
  }

  /// 0 .. bound - 1; 0 when bound is 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }

  /// Exponentially distributed around `mean`, from a table of 4096 steps; never more than 9.1 times the mean.
  std::uint64_t exponential(std::uint64_t mean) noexcept { return (mean * table()[next() >> 52]) >> 16; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t split_mix(std::uint64_t& x) noexcept {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// log2 of an integer >= 1 with 16 fraction bits, by repeated squaring.
  static constexpr std::uint64_t log2_fixed(std::uint64_t n) noexcept {
    unsigned whole = 0;
    while ((n >> whole) > 1) ++whole;
    std::uint64_t x = (n << 31) >> whole;
    std::uint64_t fraction = 0;
    for (int bit = 15; bit >= 0; --bit) {
      x = (x * x) >> 31;
      if ((x >> 32) != 0) {
        x >>= 1;
        fraction |= 1ULL << bit;
      }
    }
    return (static_cast<std::uint64_t>(whole) << 16) | fraction;
  }

  /// -ln((2i + 1) / 8192) with 16 fraction bits.
  static const std::array<std::uint32_t, 4096>& table() noexcept {
    static const auto values = [] {
      std::array<std::uint32_t, 4096> t{};
      constexpr std::uint64_t ln2 = 45426;
      for (std::uint64_t i = 0; i < t.size(); ++i)
        t[i] = static_cast<std::uint32_t>((((13ULL << 16) - log2_fixed(2 * i + 1)) * ln2) >> 16);
      return t;
    }();
    return values;
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace cmdq::manycore

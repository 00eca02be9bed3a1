// SPDX-License-Identifier: BSL-1.0
// Hosted platform on <atomic>.
#pragma once

#include <cmdq/platform/hosted.hpp>

#include <atomic>

namespace cmdq::platform {

struct std_atomic : hosted {
  static constexpr std::memory_order convert(order o) noexcept {
    switch (o) {
      case order::relaxed:
        return std::memory_order_relaxed;
      case order::acquire:
        return std::memory_order_acquire;
      case order::release:
        return std::memory_order_release;
      case order::acq_rel:
        return std::memory_order_acq_rel;
      default:
        return std::memory_order_seq_cst;
    }
  }
  template <class S>
  static constexpr std::memory_order order_for = convert(S::required);

  template <class T>
  class atomic {
   public:
    atomic() noexcept : v_(T{}) {}
    explicit atomic(T v) noexcept : v_(v) {}
    template <class S>
    T load(S) const noexcept {
      return v_.load(order_for<S>);
    }
    template <class S>
    void store(T v, S) noexcept {
      v_.store(v, order_for<S>);
    }
    template <class S>
    T exchange(T v, S) noexcept {
      return v_.exchange(v, order_for<S>);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S) noexcept {
      return v_.compare_exchange_strong(expected, v, order_for<S>, std::memory_order_relaxed);
    }
    template <class S>
    T fetch_add(T v, S) noexcept {
      return v_.fetch_add(v, order_for<S>);
    }
    template <class S>
    T fetch_and(T v, S) noexcept {
      return v_.fetch_and(v, order_for<S>);
    }
    template <class S>
    T fetch_or(T v, S) noexcept {
      return v_.fetch_or(v, order_for<S>);
    }
    template <class S>
    T fetch_xor(T v, S) noexcept {
      return v_.fetch_xor(v, order_for<S>);
    }

   private:
    std::atomic<T> v_;
  };

  template <class T>
  using plain = hosted_plain<T>;

  template <class S>
  static void fence(S) noexcept {
    std::atomic_thread_fence(order_for<S>);
  }
};

static_assert(sleeping_platform<std_atomic>);

}  // namespace cmdq::platform

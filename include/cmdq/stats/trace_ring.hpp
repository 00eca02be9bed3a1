// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/stats/counters.hpp>

namespace cmdq::stats {

/// Counters and the last `N` events with their times, for one producer. Costs a look at the clock per event; a queue
/// without it has no trace code at all.
template <class P, unsigned N = 256>
class trace_ring : public counters {
 public:
  static_assert(N != 0 && (N & (N - 1)) == 0, "a trace ring's length is a power of two");
  struct record {
    uint64_t ns = 0;
    uint64_t n = 0;
    event what = event::count;
  };

  void add(event e, uint64_t n = 1) noexcept {
    counters::add(e, n);
    ring_[next_++ % N] = {P::now_ns(), n, e};
  }
  [[nodiscard]] unsigned size() const noexcept { return next_ < N ? static_cast<unsigned>(next_) : N; }
  /// The i-th oldest of those kept.
  [[nodiscard]] const record& at(unsigned i) const noexcept { return ring_[(next_ - size() + i) % N]; }

 private:
  record ring_[N];
  uint64_t next_ = 0;
};

}  // namespace cmdq::stats

// SPDX-License-Identifier: BSL-1.0
// Instructions and cycles of this thread in user space, where the kernel and the processor can count them.
#pragma once

#include <cstdint>

namespace cmdq::cli {

struct counted {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
};

class perf_counter {
 public:
  perf_counter();
  ~perf_counter();
  perf_counter(const perf_counter&) = delete;
  perf_counter& operator=(const perf_counter&) = delete;

  [[nodiscard]] bool works() const noexcept { return leader_ >= 0; }
  void start() noexcept;
  /// Since start(); zeroes where nothing can be counted.
  counted stop() noexcept;

 private:
  int leader_ = -1;
  int second_ = -1;
};

}  // namespace cmdq::cli

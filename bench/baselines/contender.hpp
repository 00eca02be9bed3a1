// SPDX-License-Identifier: BSL-1.0
// Baseline rings as contenders.
#pragma once

#include "../contention/contender.hpp"
#include "rings.hpp"

namespace bench::baselines {

template <class Ring>
class ring_contender final : public contender {
  class one final : public session {
   public:
    explicit one(Ring& ring) : ring_(ring) {}
    bool issue(const cmdq::command* list, std::uint32_t n) override {
      ring_.issue(list, n, retries_);
      return true;
    }
    [[nodiscard]] std::uint64_t retries() const override { return retries_; }

   private:
    Ring& ring_;
    std::uint64_t retries_ = 0;
  };

 public:
  explicit ring_contender(const scenario& s) : contender(s), ring_(dev(), entries()) {}
  std::unique_ptr<session> join() override { return std::make_unique<one>(ring_); }
  void close() override {
    if constexpr (requires { ring_.close(); }) ring_.close();
  }

 private:
  Ring ring_;
};

template <class Ring>
entrant entrant_of(const char* name, side is) {
  return {name, "cons", "yield", is,
          [](const scenario& s) -> std::unique_ptr<contender> { return std::make_unique<ring_contender<Ring>>(s); }};
}

}  // namespace bench::baselines

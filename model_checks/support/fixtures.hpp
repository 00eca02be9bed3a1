// SPDX-License-Identifier: BSL-1.0
// Memory and configuration that the scenarios share.
#pragma once

#include "platform.hpp"
#include "scenario.hpp"

#include <cmdq/allocation/combining.hpp>
#include <cmdq/completion/poll_cons.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/stats/none.hpp>
#include <cmdq/wait/spin.hpp>

namespace cmdq::checks {

/// A ring's memory, for up to 16 entries, 3 producers, 2 groups, and lists of 3.
inline constexpr std::uint64_t ring_address = 0x10000;
using ring_storage = fixed_memory<P, 4, 3, 2, 3>;

/// What `ring` needs to know of a configuration.
template <class Wait = busy_wait>
struct ring_config {
  using family = default_family;
  using platform = P;
  using wait = Wait;
  using allocation = cmdq::allocation::combining;
  using completion = cmdq::completion::poll_cons;
  using stats = cmdq::stats::none;
};

/// A device of which only PROD matters: what the owner's turn protects. The plain word stands for the register, which
/// two unordered writers could set back.
class prod_only_device {
 public:
  void write_prod(std::uint32_t v) {
    check(v >= last_, "PROD moves forward");
    last_ = v;
    prod_.set(v);
  }
  std::uint32_t read_cons() { return 0; }
  std::uint32_t read_gerror() { return 0; }
  std::uint32_t read_gerrorn() { return 0; }
  void write_gerrorn(std::uint32_t) {}
  [[nodiscard]] std::uint32_t last() const { return last_; }

 private:
  P::plain<std::uint32_t> prod_;
  std::uint32_t last_ = 0;
};

}  // namespace cmdq::checks

// SPDX-License-Identifier: BSL-1.0
// Who may use the device now. Each CPU number has a word with the calls that are inside and a closed bit: entering and
// closing meet in one word, so one of the two sees the other.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/arena.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq::dma {

template <platform_type P>
class gate {
 public:
  /// Open at first. Errors: no_space.
  status init(arena& memory, uint32_t cpus) noexcept {
    words_ = memory.take<line>(cpus);
    cpus_ = words_ == nullptr ? 0 : cpus;
    return words_ == nullptr ? status::no_space : status::ok;
  }

  /// False while closed. Wait-free; one or two read-modify-writes of the CPU's own line. Nests (interrupts).
  bool enter(uint32_t cpu) noexcept {
    auto& word = words_[cpu % cpus_].word;
    if ((word.fetch_add(1, at<site::gate_enter>) & closed_bit) == 0) return true;
    word.fetch_add(~0U, at<site::gate_leave>);
    return false;
  }
  void leave(uint32_t cpu) noexcept { words_[cpu % cpus_].word.fetch_add(~0U, at<site::gate_leave>); }

  /// A look that orders nothing: for calls that do not use the device.
  [[nodiscard]] bool closed(uint32_t cpu) const noexcept {
    return (words_[cpu % cpus_].word.load(at<site::gate_look>) & closed_bit) != 0;
  }

  /// Turns later calls away.
  void close() noexcept {
    for (uint32_t i = 0; i < cpus_; ++i) words_[i].word.fetch_or(closed_bit, at<site::gate_close>);
  }
  /// Waits, at most `ns`, until the last one inside has left; what they did is visible then. False: not in time.
  bool empty(uint64_t ns) noexcept {
    time_budget<P> left(ns);
    for (uint32_t i = 0; i < cpus_; ++i) {
      for (unsigned round = 0; words_[i].word.load(at<site::gate_wait>) != closed_bit; ++round) {
        if (left.expired()) return false;
        P::pause(&words_[i].word, round);
        P::yield();
      }
    }
    return true;
  }
  /// Lets calls in again; who comes in sees what the caller did.
  void open() noexcept {
    for (uint32_t i = 0; i < cpus_; ++i) words_[i].word.fetch_and(~closed_bit, at<site::gate_open>);
  }

 private:
  static constexpr uint32_t closed_bit = 1U << 31;
  struct alignas(128) line {
    typename P::template atomic<uint32_t> word;
  };
  line* words_ = nullptr;
  uint32_t cpus_ = 0;
};

/// Inside a gate for a scope, when it was open.
template <class Gate>
class [[nodiscard]] passage {
 public:
  passage(Gate& gate, uint32_t cpu) noexcept : gate_(gate), cpu_(cpu), inside_(gate.enter(cpu)) {}
  ~passage() {
    if (inside_) gate_.leave(cpu_);
  }
  passage(const passage&) = delete;
  passage& operator=(const passage&) = delete;
  explicit operator bool() const noexcept { return inside_; }

 private:
  Gate& gate_;
  uint32_t cpu_;
  bool inside_;
};

}  // namespace cmdq::dma

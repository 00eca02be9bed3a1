// SPDX-License-Identifier: BSL-1.0
// Interrupts for tests: at any access of a CPU whose interrupts are not masked its handler may run, on the same stack,
// while the other CPUs go on. One that falls due while they are masked comes when they are unmasked.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace cmdq::test {

/// The interrupts of one CPU.
class interrupts {
 public:
  /// `gaps`: accesses from one interrupt to the next, in turn; none: no interrupts.
  void start(std::function<void()> handler, std::vector<std::uint32_t> gaps) {
    gaps_ = std::move(gaps);
    handler_ = std::move(handler);
    next_ = 0;
    left_ = gaps_.empty() ? 0 : gaps_[0];
  }
  void stop() { handler_ = nullptr; }

  void point() {
    if (!handler_ || gaps_.empty() || inside_) return;
    if (left_ != 0) --left_;
    if (left_ != 0 || masked_ != 0) return;
    inside_ = true;
    ++taken;
    handler_();
    inside_ = false;
    next_ = (next_ + 1) % gaps_.size();
    left_ = gaps_[next_];
  }
  void mask() noexcept { ++masked_; }
  void unmask() {
    --masked_;
    point();
  }
  std::uint64_t taken = 0;

 private:
  std::function<void()> handler_;
  std::vector<std::uint32_t> gaps_;
  std::size_t next_ = 0;
  std::uint32_t left_ = 0;
  unsigned masked_ = 0;
  bool inside_ = false;
};

/// A platform whose CPUs are interrupted. Where::here() is the calling CPU's interrupts, nullptr for none.
template <class Base, class Where>
struct interrupted : Base {
  static void point() {
    if (interrupts* mine = Where::here()) mine->point();
  }

  template <class T>
  class atomic : public Base::template atomic<T> {
    using base = typename Base::template atomic<T>;

   public:
    using base::base;
    template <class S>
    T load(S s) const {
      point();
      return base::load(s);
    }
    template <class S>
    void store(T v, S s) {
      point();
      base::store(v, s);
    }
    template <class S>
    T exchange(T v, S s) {
      point();
      return base::exchange(v, s);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S s) {
      point();
      return base::compare_exchange(expected, v, s);
    }
    template <class S>
    T fetch_add(T v, S s) {
      point();
      return base::fetch_add(v, s);
    }
    template <class S>
    T fetch_and(T v, S s) {
      point();
      return base::fetch_and(v, s);
    }
    template <class S>
    T fetch_or(T v, S s) {
      point();
      return base::fetch_or(v, s);
    }
    template <class S>
    T fetch_xor(T v, S s) {
      point();
      return base::fetch_xor(v, s);
    }
  };

  class critical_section {
   public:
    critical_section() : mine_(Where::here()) {
      if (mine_ != nullptr) mine_->mask();
    }
    ~critical_section() {
      if (mine_ != nullptr) mine_->unmask();
    }
    critical_section(const critical_section&) = delete;
    critical_section& operator=(const critical_section&) = delete;

   private:
    interrupts* mine_;
  };

  static void pause(const void* line, unsigned round) {
    point();
    Base::pause(line, round);
  }
  static void yield() { Base::yield(); }
};

}  // namespace cmdq::test

// SPDX-License-Identifier: BSL-1.0
// A deterministic scheduler: threads are fibers, every shared access is a scheduling point, and the choices come from a
// list of small numbers. The same list gives the same run; a shorter or smaller list gives a simpler one, so RapidCheck
// shrinks the interleaving together with the programs. Memory is sequentially consistent here: weak orders are the
// model checks' business.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace cmdq::test {

/// One choice: how long the running thread goes on (c % 8: 0 to 5 points, else up to its next read-modify-write, where
/// claims are made), then who runs (c / 8, counted from it: 0 is itself). A short list is gone through several times.
using choices = std::vector<std::uint8_t>;

class scheduler {
 public:
  enum class ending { finished, out_of_steps };

  scheduler(choices c, std::uint64_t step_limit) : choices_(std::move(c)), limit_(step_limit) {}
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// A thread. Before run() only.
  void spawn(std::function<void()> body);

  /// Thread `which` loses its processor for `ns` at its scheduling point number `points`.
  void stand(unsigned which, std::uint64_t points, std::uint64_t ns) {
    threads_[which]->stands_at = points;
    threads_[which]->stands_for = ns;
  }
  /// Thread `which` (in the order of spawn()) stops for ever at its scheduling point number `points`: to the others it
  /// is as if it had ended there. Before run() only.
  void stop(unsigned which, std::uint64_t points) { threads_[which]->stops_at = points; }
  /// Did it?
  [[nodiscard]] bool stopped(unsigned which) const noexcept { return threads_[which]->stopped; }

  /// Runs until every thread has ended, one of them has thrown (rethrown here), or the step limit is reached: threads
  /// that still run then are abandoned where they stand.
  ending run();

  /// The scheduler that runs the caller; null outside of run().
  static scheduler* current() noexcept { return current_; }

  /// A shared access is about to happen. `narrow`: what others can do before it is rare, so several choices are made
  /// here.
  void point(bool narrow = false);
  /// Shared memory has changed: who waits may look again.
  void stored() noexcept { ++stores_; }
  /// The same by a read-modify-write.
  void updated();
  /// The caller polled in vain: others run. When all wait, time goes on.
  void wait() { wait_until(never); }
  /// The same, but it may run again once the clock shows `ns`, whatever is stored.
  void wait_until(std::uint64_t ns);

  /// CPU of the caller: the number of its thread, unless it has moved.
  [[nodiscard]] std::uint32_t cpu() const noexcept { return threads_[self_]->cpu; }
  void move_to(std::uint32_t cpu) noexcept { threads_[self_]->cpu = cpu; }

  [[nodiscard]] std::uint64_t now_ns() const noexcept { return now_; }
  /// From now on the caller's scheduling points behind `ns` are counted: how much it still does itself after that,
  /// however long it is not scheduled.
  void count_after(std::uint64_t ns) noexcept {
    threads_[self_]->counts_after = ns;
    threads_[self_]->points_after = 0;
  }
  [[nodiscard]] std::uint64_t points_after() const noexcept { return threads_[self_]->points_after; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// Threads that have not ended, the caller included.
  [[nodiscard]] unsigned running_threads() const noexcept { return left_; }

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr std::uint64_t idle_round_ns = 10'000;  ///< how far time goes when all wait
  static constexpr std::uint64_t poll_ns = 1'000;         ///< a poll in vain: polls that store keep others from waiting
  static constexpr std::uint64_t point_ns = 1;

 private:
  struct thread {
    std::function<void()> body;
    boost::context::fiber fiber;
    std::uint64_t waits_since = never;  ///< value of stores_ then; never: it does not wait
    std::uint64_t wake_at = never;
    std::uint64_t stops_at = never;   ///< points until then
    std::uint64_t stands_at = never;  ///< the same
    std::uint64_t stands_for = 0;
    std::uint64_t counts_after = never;
    std::uint64_t points_after = 0;
    std::uint32_t cpu = 0;
    bool done = false;
    bool stopped = false;
  };
  void start(thread& t);
  void step();
  void switch_to_main();
  [[nodiscard]] bool runnable(const thread& t) const noexcept;
  [[nodiscard]] unsigned pick(unsigned which) const noexcept;
  unsigned idle_round();
  void hand_over(unsigned which);
  unsigned next_choice();
  [[nodiscard]] bool choices_left() const noexcept;
  static constexpr unsigned nobody = ~0U;

  static inline scheduler* current_ = nullptr;
  choices choices_;
  std::uint64_t limit_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<thread>> threads_;
  boost::context::fiber main_;
  unsigned self_ = 0;
  unsigned left_ = 0;
  unsigned go_on_ = 0;
  bool until_update_ = false;
  std::uint64_t stores_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t now_ = 0;
  std::exception_ptr failure_;
  bool over_ = false;
};

}  // namespace cmdq::test

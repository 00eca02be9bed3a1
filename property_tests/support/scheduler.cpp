// SPDX-License-Identifier: BSL-1.0
#include "scheduler.hpp"

#include <boost/context/stack_context.hpp>

namespace cmdq::test {

namespace {
constexpr std::size_t stack_bytes = std::size_t{256} << 10;
constexpr unsigned default_run = 40;  ///< points between two switches once the choices are used up
constexpr unsigned narrow_choices = 6;
constexpr std::size_t fewest_choices = 600;  ///< a shorter list is used again; few enough that nobody starves

/// Stacks are used again: thousands of cases start a few threads each.
class stack_pool {
 public:
  boost::context::stack_context allocate() {
    std::vector<std::unique_ptr<char[]>>& free = spare();
    std::unique_ptr<char[]> memory;
    if (free.empty()) {
      memory.reset(new char[stack_bytes]);
    } else {
      memory = std::move(free.back());
      free.pop_back();
    }
    boost::context::stack_context c;
    c.size = stack_bytes;
    c.sp = memory.release() + stack_bytes;
    return c;
  }
  void deallocate(boost::context::stack_context& c) noexcept {
    spare().emplace_back(static_cast<char*>(c.sp) - c.size);
  }

 private:
  static std::vector<std::unique_ptr<char[]>>& spare() {
    static std::vector<std::unique_ptr<char[]>> free;
    return free;
  }
};
}  // namespace

scheduler::~scheduler() {
  // A thread that has not ended would be unwound by an exception, through functions that are noexcept. Only a run that
  // failed, and a thread that was stopped, leaves such threads behind: they are abandoned.
  for (auto& t : threads_) {
    if (!t->fiber) continue;
    static_cast<void>(new boost::context::fiber(std::move(t->fiber)));
    static_cast<void>(t.release());
  }
}

void scheduler::spawn(std::function<void()> body) {
  threads_.push_back(std::make_unique<thread>());
  threads_.back()->body = std::move(body);
  threads_.back()->cpu = static_cast<std::uint32_t>(threads_.size() - 1);
}

void scheduler::start(thread& t) {
  t.fiber = boost::context::fiber(std::allocator_arg, stack_pool{}, [this, &t](boost::context::fiber&& from) {
    main_ = std::move(from);
    try {
      t.body();
    } catch (...) {
      failure_ = std::current_exception();
      over_ = true;
    }
    t.done = true;
    --left_;
    ++stores_;
    return std::move(main_);
  });
}

scheduler::ending scheduler::run() {
  left_ = static_cast<unsigned>(threads_.size());
  for (auto& t : threads_) start(*t);
  current_ = this;
  while (left_ != 0 && !over_) {
    if (threads_[self_]->done) {
      unsigned next = pick(next_choice());
      if (next == nobody) next = idle_round();
      if (next == nobody) continue;
      self_ = next;
    }
    thread& t = *threads_[self_];
    t.fiber = std::move(t.fiber).resume();
  }
  current_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
  return left_ == 0 ? ending::finished : ending::out_of_steps;
}

void scheduler::switch_to_main() { main_ = std::move(main_).resume(); }

void scheduler::step() {
  now_ += point_ns;
  thread& me = *threads_[self_];
  if (now_ > me.counts_after) ++me.points_after;
  if (me.stands_at != never && me.stands_at-- == 0)
    for (const std::uint64_t end = now_ + me.stands_for; now_ < end;) wait_until(end);
  if (me.stops_at != never && me.stops_at-- == 0) {
    me.done = me.stopped = true;
    --left_;
    ++stores_;
  } else if (++steps_ <= limit_) {
    return;
  } else {
    over_ = true;
  }
  switch_to_main();  // never comes back
}

bool scheduler::runnable(const thread& t) const noexcept {
  return !t.done && (t.waits_since == never || t.waits_since != stores_ || now_ >= t.wake_at);
}

/// The runnable thread that a choice names: the current one for 0, the next ones round from it for 1, 2, ...
unsigned scheduler::pick(unsigned which) const noexcept {
  const auto n = static_cast<unsigned>(threads_.size());
  if (which == 0 && runnable(*threads_[self_])) return self_;
  unsigned found = 0;
  for (unsigned i = 1; i <= n; ++i) found += runnable(*threads_[(self_ + i) % n]) ? 1U : 0U;
  if (found == 0) return nobody;
  which = which == 0 ? 0 : (which - 1) % found;
  for (unsigned i = 1;; ++i)
    if (runnable(*threads_[(self_ + i) % n]) && which-- == 0) return (self_ + i) % n;
}

bool scheduler::choices_left() const noexcept {
  return next_ < choices_.size() || (!choices_.empty() && next_ < fewest_choices);
}

unsigned scheduler::next_choice() {
  if (!choices_left()) {
    go_on_ = default_run;
    until_update_ = false;
    return 1;
  }
  const std::uint8_t c = choices_[next_++ % choices_.size()];
  until_update_ = c % 8U > 5;
  go_on_ = until_update_ ? default_run : c % 8U;
  return c / 8U;
}

void scheduler::hand_over(unsigned which) {
  if (which == self_) return;
  self_ = which;
  switch_to_main();
}

void scheduler::point(bool narrow) {
  step();
  for (unsigned i = 0; narrow && i < narrow_choices && choices_left(); ++i) hand_over(pick(next_choice()));
  if (go_on_ != 0) {
    --go_on_;
    return;
  }
  hand_over(pick(next_choice()));
}

void scheduler::updated() {
  stored();
  if (!until_update_) return;
  until_update_ = false;
  hand_over(pick(next_choice()));
}

/// All wait: time goes on, and who polls looks again.
unsigned scheduler::idle_round() {
  now_ += idle_round_ns;
  for (auto& t : threads_)
    if (t->wake_at == never) t->waits_since = never;
  const auto n = static_cast<unsigned>(threads_.size());
  for (unsigned i = 1; i <= n; ++i)
    if (runnable(*threads_[(self_ + i) % n])) return (self_ + i) % n;
  return nobody;
}

void scheduler::wait_until(std::uint64_t ns) {
  thread& me = *threads_[self_];
  now_ += poll_ns;
  me.waits_since = stores_;
  me.wake_at = ns;
  unsigned next = nobody;
  while (next == nobody) {
    step();
    next = pick(next_choice());
    if (next == nobody) next = idle_round();
  }
  hand_over(next);
  me.waits_since = never;
  me.wake_at = never;
}

}  // namespace cmdq::test

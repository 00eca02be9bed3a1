// SPDX-License-Identifier: BSL-1.0
// A signal handler that issues on a producer of its own while the thread it interrupted is inside a call of another:
// at every shared access of the call, and at times of the system's choosing.
#include <cmdq/model/hardware.hpp>
#include <cmdq/platform/hosted_signals.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/wait/spin_then_yield.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

/// hosted_signals, where the n-th shared access of a call raises a signal. Time is a number; who polls too often in
/// vain waits for itself, and ends the test.
struct interrupting : platform::hosted_signals {
  static inline std::uint64_t now = 0;
  static inline std::uint64_t accesses = 0;
  static inline std::uint64_t raise_at = 0;
  static inline std::uint64_t polls = 0;

  static void access() noexcept {
    if (++accesses == raise_at) raise(SIGUSR1);
  }
  template <class T>
  class atomic {
   public:
    atomic() noexcept = default;
    explicit atomic(T v) noexcept : v_(v) {}
    template <class S>
    T load(S s) const noexcept {
      return access(), v_.load(s);
    }
    template <class S>
    void store(T v, S s) noexcept {
      access(), v_.store(v, s);
    }
    template <class S>
    T exchange(T v, S s) noexcept {
      return access(), v_.exchange(v, s);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S s) noexcept {
      return access(), v_.compare_exchange(expected, v, s);
    }
    template <class S>
    T fetch_add(T v, S s) noexcept {
      return access(), v_.fetch_add(v, s);
    }
    template <class S>
    T fetch_and(T v, S s) noexcept {
      return access(), v_.fetch_and(v, s);
    }
    template <class S>
    T fetch_or(T v, S s) noexcept {
      return access(), v_.fetch_or(v, s);
    }
    template <class S>
    T fetch_xor(T v, S s) noexcept {
      return access(), v_.fetch_xor(v, s);
    }

   private:
    platform::hosted_signals::atomic<T> v_;
  };
  static void pause(const void*, unsigned) noexcept {
    if (++polls < 100'000) return;
    std::fprintf(stderr, "%s: a call waits for the one that it interrupted\n", current());
    std::_Exit(1);  // the library's code is noexcept
  }
  static void yield() noexcept { pause(nullptr, 0); }
  static std::uint64_t now_ns() noexcept { return now += 100; }
};

template <class Platform, class Allocation>
struct config : freestanding_config {
  using platform = Platform;
  using allocation = Allocation;
  using wait = cmdq::wait::spin_then_yield;
};

template <class Platform, class Allocation>
struct bench {
  using device_type = model::hardware<Platform, ring_entry<Platform>>;
  using queue_type = command_queue<device_type, config<Platform, Allocation>>;
  static constexpr unsigned log2 = 6;

  device_type device{model::device_drive::in_write};
  fixed_memory<Platform, log2, 8> memory;
  std::unique_ptr<queue_type> queue;
  typename queue_type::producer threads[4], handlers[4];

  explicit bench(std::uint64_t deadline_ns) {
    CMDQ_CHECK_EQ(device.attach(memory.memory().entries, log2, memory.memory().device_address), status::ok);
    const auto plan = make_plan<config<Platform, Allocation>>(
        {.log2_size = log2, .batch_limit = 4, .producers = 8, .deadline_ns = deadline_ns}, memory.memory());
    CMDQ_CHECK(plan.ok());
    queue = std::make_unique<queue_type>(*plan, device);
    for (auto* group : {threads, handlers})
      for (unsigned i = 0; i < 4; ++i) CMDQ_CHECK_EQ(queue->attach(group[i]), status::ok);
  }
};

constexpr command tlbi{{0x12, 0x1000}};
constexpr command three[] = {tlbi, tlbi, tlbi};

/// A handler is a plain function: what it does is kept here.
std::function<void()> in_handler;
void on_signal(int) { in_handler(); }

struct handling {
  struct sigaction before {};
  handling() {
    struct sigaction a {};
    a.sa_handler = on_signal;
    sigemptyset(&a.sa_mask);
    CMDQ_CHECK_EQ(sigaction(SIGUSR1, &a, &before), 0);
  }
  ~handling() { sigaction(SIGUSR1, &before, nullptr); }
};

/// `call` of one producer, interrupted at its first, second, ... access, until it has fewer.
template <class Allocation, class Call>
void interrupted_everywhere(Call call) {
  const handling installed;
  std::uint64_t places = 0;
  for (bool interrupted = true; interrupted; places += interrupted ? 1U : 0U) {
    bench<interrupting, Allocation> b(1'000'000);
    interrupted = false;
    outcome inner;
    in_handler = [&] {
      interrupted = true;
      inner = b.handlers[0].issue(three, 3);
    };
    const std::uint64_t before = b.device.commands - b.device.syncs;
    interrupting::polls = interrupting::accesses = 0;
    interrupting::raise_at = places + 1;
    call(b.threads[0]);
    interrupting::raise_at = 0;
    CMDQ_CHECK_EQ(inner.code, status::ok);
    CMDQ_CHECK_EQ(inner.done, interrupted ? 3U : 0U);
    CMDQ_CHECK(b.threads[0].issue(nullptr, 0).ok());
    CMDQ_CHECK_EQ(b.device.commands - b.device.syncs - before, interrupted ? 5U : 2U);
  }
  CMDQ_CHECK(places > 10);
}

template <class Allocation>
void every_call_interrupted() {
  interrupted_everywhere<Allocation>([](auto& p) { CMDQ_CHECK(p.issue(three, 2).ok()); });
  interrupted_everywhere<Allocation>([](auto& p) { CMDQ_CHECK(p.insert(three, 2).ok()); });
  interrupted_everywhere<Allocation>([](auto& p) {
    const auto t = p.submit(three, 2);
    CMDQ_CHECK(t.ok());
    CMDQ_CHECK_EQ(p.wait(*t, 1'000'000), status::ok);
  });
}

/// Threads that issue without end, and signals sent to them one by one; each handler issues.
template <class Allocation>
void interrupted_by_others() {
  using bench_type = bench<platform::hosted_signals, Allocation>;
  constexpr unsigned crew = 4, signals = 100;
  static thread_local typename bench_type::queue_type::producer* of_this_thread = nullptr;
  const handling installed;
  bench_type b(no_deadline);
  std::atomic<unsigned> handled{0}, wrong{0}, ready{0};
  std::atomic<bool> over{false};
  in_handler = [&] {
    if (!of_this_thread->issue(three, 3).ok()) ++wrong;
    ++handled;
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < crew; ++i)
    workers.emplace_back([&, i] {
      of_this_thread = &b.handlers[i];
      ++ready;
      for (unsigned n = 0; !over || n == 0; ++n)
        if (!b.threads[i].issue(three, 1 + n % 3).ok()) ++wrong;
    });
  while (ready != crew) std::this_thread::yield();
  for (unsigned n = 0; n < signals; ++n) {
    CMDQ_CHECK_EQ(pthread_kill(workers[n % crew].native_handle(), SIGUSR1), 0);
    while (handled == n) std::this_thread::yield();
  }
  over = true;
  for (std::thread& w : workers) w.join();
  CMDQ_CHECK_EQ(wrong.load(), 0U);
  CMDQ_CHECK_EQ(handled.load(), signals);
}

}  // namespace

CMDQ_TEST(r27_issue_in_a_handler_at_every_access_cmpxchg_loop) { every_call_interrupted<allocation::cmpxchg_loop>(); }
CMDQ_TEST(r27_issue_in_a_handler_at_every_access_owner_bits) { every_call_interrupted<allocation::owner_bits>(); }
CMDQ_TEST(r27_issue_in_a_handler_at_every_access_combining) { every_call_interrupted<allocation::combining>(); }
CMDQ_TEST(r27_issue_in_handlers_of_busy_threads_cmpxchg_loop) { interrupted_by_others<allocation::cmpxchg_loop>(); }
CMDQ_TEST(r27_issue_in_handlers_of_busy_threads_owner_bits) { interrupted_by_others<allocation::owner_bits>(); }
CMDQ_TEST(r27_issue_in_handlers_of_busy_threads_combining) { interrupted_by_others<allocation::combining>(); }

CMDQ_TEST(critical_section_nests_and_leaves_faults_alone) {
  const auto masked = [](int signal) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return sigismember(&now, signal) == 1;
  };
  CMDQ_CHECK(!masked(SIGUSR1) && !masked(SIGALRM));
  {
    platform::hosted_signals::critical_section outer;
    {
      platform::hosted_signals::critical_section inner;
      CMDQ_CHECK(masked(SIGUSR1));
    }
    CMDQ_CHECK(masked(SIGUSR1) && masked(SIGALRM) && !masked(SIGSEGV) && !masked(SIGBUS));
  }
  CMDQ_CHECK(!masked(SIGUSR1) && !masked(SIGALRM));
}

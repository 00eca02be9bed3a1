// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "latencies.hpp"

namespace bench {
namespace {

struct shared_flags {
  std::atomic<std::uint32_t> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
};

/// One thread's tally.
struct alignas(64) tally {
  latencies waits;
  std::uint64_t lists = 0;
  std::uint64_t retries = 0;
  std::uint64_t end_ns = 0;
  bool failed = false;
};

void think(std::uint32_t& random) {
  random = random * 1664525 + 1013904223;
  const std::uint64_t end = P::now_ns() + 50 + (random >> 8) % 101;
  while (P::now_ns() < end) {
  }
}

void work(contender& c, std::uint32_t thread, const scenario& s, shared_flags& flags, tally& t) {
  const auto me = c.join();
  std::vector<cmdq::command> list(s.list);
  std::uint32_t random = thread * 7919 + 1;
  std::uint64_t sequence = 0;
  flags.ready.fetch_add(1);
  while (!flags.go.load(std::memory_order_acquire)) std::this_thread::yield();
  while (s.work != 0 ? t.lists < s.work : !flags.stop.load(std::memory_order_relaxed)) {
    for (auto& command : list) command = tagged(thread, sequence++);
    const std::uint64_t begin = P::now_ns();
    if (!me->issue(list.data(), s.list)) {
      t.failed = true;
      break;
    }
    t.end_ns = P::now_ns();
    t.waits.add(t.end_ns - begin);
    ++t.lists;
    think(random);
  }
  t.retries = me->retries();
}

std::uint64_t context_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

std::string check(const scenario& s, const record& done, const std::vector<tally>& tallies) {
  if (done.wrong() != 0)
    return std::to_string(done.wrong()) + " commands lost, doubled, torn or out of their thread's order";
  for (std::uint32_t i = 0; i < s.threads; ++i) {
    if (tallies[i].failed) return "thread " + std::to_string(i) + ": a call failed";
    const std::uint64_t sent = tallies[i].lists * s.list;
    if (done.executed(i) != sent)
      return "thread " + std::to_string(i) + ": " + std::to_string(sent) + " commands issued, " +
             std::to_string(done.executed(i)) + " executed";
  }
  return "";
}

/// What each thread got: lists in fixed time, speed in fixed work.
std::vector<double> shares(const scenario& s, const std::vector<tally>& tallies, std::uint64_t begin_ns) {
  std::vector<double> all;
  for (const tally& t : tallies)
    all.push_back(s.work == 0 ? static_cast<double>(t.lists)
                              : static_cast<double>(s.work) / static_cast<double>(t.end_ns - begin_ns + 1));
  return all;
}

/// What the device counted before the run: choosing the completion mode takes a CMD_SYNC and a PROD write a round.
struct earlier {
  std::uint64_t prod_writes = 0;
  std::uint64_t cons_reads = 0;
};

measurement sum_up(const scenario& s, const std::vector<tally>& tallies, std::uint64_t begin_ns, const device& dev,
                   const earlier& before) {
  measurement m;
  m.failure = check(s, dev.done(), tallies);
  latencies all;
  std::uint64_t lists = 0, retries = 0, end_ns = begin_ns;
  for (const tally& t : tallies) {
    all += t.waits;
    lists += t.lists;
    retries += t.retries;
    end_ns = std::max(end_ns, t.end_ns);
  }
  const double n = lists != 0 ? static_cast<double>(lists) : 1;
  m.seconds = static_cast<double>(end_ns - begin_ns) / 1e9;
  m.lists_per_second = lists != 0 ? n / m.seconds : 0;
  m.p50 = static_cast<double>(all.quantile(0.5));
  m.p99 = static_cast<double>(all.quantile(0.99));
  m.p999 = static_cast<double>(all.quantile(0.999));
  m.max = static_cast<double>(all.max());
  const auto syncs = static_cast<double>(dev.done().syncs() - before.prod_writes);
  m.syncs_per_list = syncs / n;
  m.prod_writes_per_list = static_cast<double>(dev.prod_writes() - before.prod_writes) / n;
  m.cons_reads_per_list = static_cast<double>(dev.cons_reads() - before.cons_reads) / n;
  m.retries_per_list = static_cast<double>(retries) / n;
  m.device_sync_ns =
      syncs > 0 ? static_cast<double>(dev.done().sync_ns()) / static_cast<double>(dev.done().syncs()) : 0;
  const fairness fair = fairness_of(shares(s, tallies, begin_ns));
  m.jain = fair.jain;
  m.least_share = fair.least_share;
  m.starved = s.work == 0 && fair.starved();
  return m;
}

}  // namespace

fairness fairness_of(const std::vector<double>& got) {
  double sum = 0, squares = 0, least = 1e300;
  for (const double x : got) {
    sum += x;
    squares += x * x;
    least = std::min(least, x);
  }
  const auto n = static_cast<double>(got.size());
  return {squares > 0 ? sum * sum / (n * squares) : 0, sum > 0 ? least * n / sum : 0};
}

measurement run(const entrant& who, const scenario& s) {
  const std::unique_ptr<contender> c = who.make(s);
  const earlier before{c->dev().prod_writes(), c->dev().cons_reads()};
  shared_flags flags;
  std::vector<tally> tallies(s.threads);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < s.threads; ++i) threads.emplace_back([&, i] { work(*c, i, s, flags, tallies[i]); });
  while (flags.ready.load() != s.threads) std::this_thread::sleep_for(std::chrono::microseconds(100));
  const std::uint64_t switches = context_switches();
  const std::uint64_t begin = P::now_ns();
  flags.go.store(true, std::memory_order_release);
  if (s.work == 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(s.seconds));
    flags.stop.store(true, std::memory_order_relaxed);
  }
  for (auto& t : threads) t.join();
  const std::uint64_t switched = context_switches() - switches;
  c->close();
  c->dev().rest();
  measurement m = sum_up(s, tallies, begin, c->dev(), before);
  m.switches_per_list = static_cast<double>(switched) / (m.lists_per_second * m.seconds + 1e-9);
  return m;
}

}  // namespace bench

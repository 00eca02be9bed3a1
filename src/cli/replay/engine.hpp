// SPDX-License-Identifier: BSL-1.0
// The run itself, for any configuration of the queue. Included by one file per strategy.
#pragma once

#include <cmdq/allocation/strategies.hpp>
#include <cmdq/cmdq.hpp>
#include <cmdq/model/hardware.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>
#include <type_traits>

#include "errors.hpp"
#include "replay/run.hpp"

namespace cmdq::cli {

/// Notes what the device executes. The notes are plain data: an issuer that reads them when its call returns relies on
/// nothing but the queue's promise that a completed CMD_SYNC makes them visible.
struct noting_hooks : model::null_hooks {
  std::vector<device_note>* log = nullptr;
  std::uint32_t* overflow = nullptr;
  position start = 0;

  void executed(position where, const command& what, std::uint64_t) noexcept {
    const position i = where - start;
    if (i >= log->size()) {
      ++*overflow;
      return;
    }
    (*log)[i].what = what;
    ++(*log)[i].times;
  }
};

/// The default platform, with threads that now and then give the processor away between a claim and its publication:
/// the moments that matter are too short for two cores to meet in them by themselves.
struct disturbed_platform : platform::boost_atomic {
  static inline std::uint32_t yield_one_in = 0;  ///< 0: never; set while no thread runs
  static inline thread_local std::uint32_t issuer = 0;
  /// As if each issuer had a CPU of its own: groups then meet on two cores, too.
  static std::uint32_t index() noexcept { return issuer; }

  template <class T>
  class atomic : public platform::boost_atomic::atomic<T> {
    using base = platform::boost_atomic::atomic<T>;

   public:
    using base::base;
    template <class S>
    void store(T v, S where) noexcept {
      if constexpr (S::id == site::entry_word0) {
        static thread_local std::minstd_rand dice{std::random_device{}()};
        if (yield_one_in != 0 && dice() % yield_one_in == 0) std::this_thread::yield();
      }
      base::store(v, where);
    }
  };
};
static_assert(sleeping_platform<disturbed_platform>);

/// A replay with one configuration of the queue.
template <class Config>
class replay_engine {
 public:
  using P = typename Config::platform;
  using hardware = model::hardware<P, ring_entry<P>, noting_hooks>;
  using queue = command_queue<hardware, Config>;

  replay_engine(const stream& s, const setup& with)
      : stream_(s), with_(with), memory_(with.entries, with.threads, with.groups) {
    // All that can be in the ring: every command, a CMD_SYNC for each list.
    evidence_.device.resize(s.commands.size() + s.lists.size());
    evidence_.threads.resize(with.threads);
  }

  report run(const telling& tell) {
    report out;
    const auto plan = make_plan<Config>(queue_options(), memory_.view());
    if (!plan) {
      out.refused = explain_refusal(plan.why());
      out.too_small = plan.code() == status::ring_too_small;
      return out;
    }
    disturbed_platform::yield_one_in = with_.yield_one_in;
    const bool inside = with_.device == "inline";
    hardware device(inside ? model::device_drive::in_write : model::device_drive::stepped, {}, hooks());
    device.speed.command_ns = with_.command_ns;
    device.speed.sync_ns = with_.sync_ns;
    const status up = device.attach(memory_.entries.get(), plan->opts.log2_size, device_address, start);
    if (up != status::ok) throw input_error(fmt::format("the modelled device refused the ring: {}", name(up)));
    queue q(*plan, device);
    {
      std::atomic<bool> over{false};
      std::vector<std::jthread> consumer;
      if (!inside) start_thread(consumer, "device thread", 0, [&] { device.run_until([&] { return over.load(); }); });
      try {
        issue_all(q, tell, out);
      } catch (...) {
        over = true;
        throw;
      }
      over = true;
    }
    device.speed = {};  // what is left after a failure is not waited for
    device.drain();
    const geometry shape{plan->opts.log2_size};
    evidence_.told = static_cast<std::uint32_t>(counted_.of(stats::event::entries_told));
    if (out.failed.empty()) out.failed = check_replay(stream_, evidence_);
    const std::uint32_t end = shape.to_register(start + evidence_.told);
    if (out.failed.empty() && device.read(model::offset::cmdq_prod) != end)
      out.failed = fmt::format("PROD is {:#x} at the end, expected {:#x}", device.read(model::offset::cmdq_prod), end);
    if (out.failed.empty() && device.odd.prod_moved_wrongly != 0)
      out.failed = fmt::format("PROD went back or beyond a full ring {} times", device.odd.prod_moved_wrongly);
    fill(out);
    return out;
  }

 private:
  // Any base that is aligned to the largest ring; and a start from which every run crosses the end of 32-bit positions.
  static constexpr std::uint64_t device_address = 0x1'0000'0000;
  static constexpr position start = ~position{0} - 200;

  struct memory {
    using word = typename P::template atomic<std::uint32_t>;
    using long_word = typename P::template atomic<std::uint64_t>;
    memory(std::uint32_t n, std::uint32_t threads, std::uint32_t group_count)
        : entries(new ring_entry<P>[n]),
          valid(new word[n]),
          marks(new long_word[n]),
          range_ends(new word[n]),
          cells(new producer_cell<P>[threads]),
          groups(group_count == 1 ? nullptr : new gather_group<P>[group_count]) {}
    [[nodiscard]] ring_memory<P> view() const {
      return {entries.get(), device_address, valid.get(), marks.get(), range_ends.get(), cells.get(), groups.get()};
    }
    std::unique_ptr<ring_entry<P>[]> entries;
    std::unique_ptr<word[]> valid;
    std::unique_ptr<long_word[]> marks;
    std::unique_ptr<word[]> range_ends;
    std::unique_ptr<producer_cell<P>[]> cells;
    std::unique_ptr<gather_group<P>[]> groups;
  };

  [[nodiscard]] options queue_options() const {
    options o;
    o.log2_size = static_cast<std::uint32_t>(std::countr_zero(with_.entries));
    o.batch_limit = with_.batch_limit != 0 ? with_.batch_limit : stream_.longest();
    o.producers = with_.threads;
    o.groups = with_.groups;
    o.cpus_per_group = 1;
    o.deadline_ns = with_.deadline_ms * 1'000'000;
    o.first = start;
    return o;
  }

  noting_hooks hooks() {
    noting_hooks h;
    h.log = &evidence_.device;
    h.overflow = &evidence_.overflow;
    h.start = start;
    return h;
  }

  [[nodiscard]] std::string explain_refusal(const refusal& why) const {
    if (why.code == status::ring_too_small)
      return fmt::format(
          "{}: the ring is too small: {} threads x {} entries (the longest list and its CMD_SYNC) = {} "
          "may be outstanding, limit {} entries; what serves: {}",
          with_.strategy, with_.threads, longest_list(queue_options()), why.value, why.limit,
          ways_out(with_.threads, longest_list(queue_options()), with_.entries));
    if (why.limit == 1 && why.value == with_.groups && with_.groups > 1)
      return fmt::format("{} does not gather in groups: groups: {}, limit 1", with_.strategy, why.value);
    return fmt::format("{}: {}: {}, limit {}", name(why.code), why.field, why.value, why.limit);
  }

  using clock = std::chrono::steady_clock;

  /// Starts thread `i` of the run; without it there is no run.
  template <class Body>
  static void start_thread(std::vector<std::jthread>& threads, const char* what, std::uint32_t i, Body body) {
    try {
      threads.emplace_back(std::move(body));
    } catch (const std::system_error& e) {
      throw input_error(fmt::format("{} {} cannot be started: {}", what, i, e.code().message()));
    }
  }

  /// The time is from the moment at which all issuers may begin to the end of the last one.
  void issue_all(queue& q, const telling& tell, report& out) {
    std::atomic<std::uint64_t> lists_done{0};
    std::atomic<std::uint32_t> left{with_.threads};
    std::atomic<bool> called_off{false};
    std::latch go(1);
    std::vector<std::jthread> threads;
    threads.reserve(with_.threads);
    try {
      for (std::uint32_t t = 0; t < with_.threads; ++t)
        start_thread(threads, "issuer thread", t, [&, t] {
          disturbed_platform::issuer = t;
          go.wait();
          if (!called_off) issue(q, t, lists_done, out);
          --left;
        });
    } catch (...) {
      called_off = true;
      go.count_down();
      throw;
    }
    const clock::time_point from = clock::now();
    go.count_down();
    if (tell)
      for (; left != 0; std::this_thread::sleep_for(std::chrono::milliseconds(50))) tell(lists_done);
    threads.clear();
    out.seconds = std::chrono::duration<double>(last_ - from).count();
  }

  /// Body of issuer `t`: every list whose number is `t` modulo the number of threads.
  void issue(queue& q, std::uint32_t t, std::atomic<std::uint64_t>& lists_done, report& out) {
    typename queue::producer me;
    std::string failed;
    if (const status s = q.attach(me); s != status::ok) failed = fmt::format("thread {}: {}", t, name(s));
    for (std::size_t i = t; i < stream_.lists.size() && failed.empty(); i += with_.threads) {
      const list& l = stream_.lists[i];
      const outcome o = l.sync ? me.issue(stream_.at(l), l.n) : me.insert(stream_.at(l), l.n);
      const position first = o.first - start;
      const bool finished = l.sync && executed_with_sync(evidence_.device, first, l.n);
      evidence_.threads[t].push_back({static_cast<std::uint32_t>(i), first, finished});
      if (!o.ok() || o.inserted != l.n || o.lists != 1 || (l.sync && o.done != l.n))
        failed = fmt::format("thread {}, list {} (line {}): {}, {} of {} commands inserted, {} done, as {} lists", t, i,
                             l.line, name(o.code), o.inserted, l.n, o.done, o.lists);
      lists_done.fetch_add(1);
    }
    const std::lock_guard hold(mutex_);
    last_ = std::max(last_, clock::now());
    counted_ += me.stats();
    if (out.failed.empty()) out.failed = failed;
  }

  void fill(report& out) const {
    using stats::event;
    out.lists = stream_.lists.size();
    out.commands = stream_.commands.size();
    out.syncs = counted_.of(event::sync_sent);
    out.prod_writes = counted_.of(event::prod_write);
    out.cons_reads = counted_.of(event::cons_read);
    out.retries = counted_.of(event::claim_retry);
  }

  const stream& stream_;
  const setup& with_;
  memory memory_;
  evidence evidence_;
  std::mutex mutex_;
  clock::time_point last_;
  stats::counters counted_;
};

template <class Allocation, class Reclaim, class Completion, class Wait>
struct replay_config : default_config {
  using platform = disturbed_platform;
  using allocation = Allocation;
  using reclaim = Reclaim;
  using completion = Completion;
  using wait = Wait;
  using stats = cmdq::stats::counters;
};

template <class Allocation, class Reclaim, class Completion, class Wait>
report run_with(const stream& s, const setup& with, const telling& tell) {
  return replay_engine<replay_config<Allocation, Reclaim, Completion, Wait>>(s, with).run(tell);
}

template <class Allocation, class Reclaim, class Completion>
report run_waiting(const stream& s, const setup& with, const telling& tell) {
  if (with.wait == "spin") return run_with<Allocation, Reclaim, Completion, wait::spin>(s, with, tell);
  if (with.wait == "park") return run_with<Allocation, Reclaim, Completion, wait::park>(s, with, tell);
  return run_with<Allocation, Reclaim, Completion, wait::spin_then_yield>(s, with, tell);
}

template <class Allocation, class Reclaim>
report run_completing(const stream& s, const setup& with, const telling& tell) {
  if (with.completion == "msi") return run_waiting<Allocation, Reclaim, completion::poll_msi>(s, with, tell);
  return run_waiting<Allocation, Reclaim, completion::poll_cons>(s, with, tell);
}

#define CMDQ_IS_LOCKED(name, locked) (std::is_same_v<Allocation, allocation::name> && (locked)) ||
/// Can the published lock move this strategy's software CONS?
template <class Allocation>
inline constexpr bool takes_sync_lock = CMDQ_FOR_EACH_STRATEGY(CMDQ_IS_LOCKED) false;

/// Chooses the configuration by the names in `with`, for one strategy and the ways to reclaim that it has.
template <class Allocation>
report run_strategy(const stream& s, const setup& with, const telling& tell) {
  if constexpr (takes_sync_lock<Allocation>) {
    if (with.reclaim == "sync_locked") return run_completing<Allocation, reclaim::sync_locked>(s, with, tell);
  } else if (with.reclaim != "counted") {
    report none;
    none.refused = fmt::format("--reclaim {}: {} takes no lock; limit: counted", with.reclaim, with.strategy);
    return none;
  }
  return run_completing<Allocation, reclaim::counted>(s, with, tell);
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// The contention scenario: every CPU does other work, then issues one list through a shipped queue and waits for it.
// run_contention<Config>() takes any queue configuration, a user's own included: see examples/own_strategy.
#pragma once

#include <fmt/format.h>

#include <cmdq/queue/command_queue.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.hpp"
#include "platform.hpp"

namespace cmdq::manycore {

struct contention_options {
  unsigned cpus = 1;
  unsigned list_length = 1;           ///< commands of a list, without its CMD_SYNC
  picoseconds think = 0;              ///< mean of the other work between two lists; uniform, a quarter up and down
  picoseconds time = 1'000'000'000;   ///< measured time
  picoseconds warm_up = 200'000'000;  ///< before it
  unsigned cpus_per_group = 0;        ///< CPUs that gather on their own first (combining); 0: as grouped_for()
  std::uint64_t seed = 1;
  unsigned log2_size = 15;             ///< ring of 2^log2_size entries
  std::vector<span>* spans = nullptr;  ///< where to record a trace
};

struct contention_result {
  unsigned cpus = 0;
  double per_cpu_per_second = 0;  ///< lists finished
  double fairness = 0;            ///< least served CPU / mean
  double syncs_per_list = 0;
  double entries_per_prod_write = 0;
  double device_busy = 0;              ///< share of the time
  double cons_reads_per_list = 0;      ///< reads of CMDQ_CONS
  double uncached_reads_per_list = 0;  ///< those, and reads of GERROR and GERRORN
  double latency_ns = 0;               ///< mean, from issue() to its return
  double longest_ns = 0;               ///< the worst list
  double claims_that_succeed = 1;      ///< compare-exchanges of the claim: succeeded / tried
  std::uint64_t lists = 0;
  std::uint64_t switches = 0;  ///< of the host between simulated CPUs, warm-up included
  phase_table phase_time{};    ///< summed over CPUs, in the measured time
  site_table sites{};
  std::vector<line_counters> lines;
  std::vector<std::string> actors;
};

/// Options of a queue that `cpus` CPUs share, in groups where the strategy has them; `per_group` 0: as a queue on
/// `cpus` CPUs chooses them by itself.
template <class Config>
options options_for(unsigned cpus, unsigned per_group = 0) {
  options o;
  o.producers = cpus;
  o.groups = 1;
  if constexpr (Config::allocation::gathers_in_groups) {
    if (per_group == 0) return grouped_for(o, cpus);
    o.cpus_per_group = per_group;
    o.groups = (cpus + per_group - 1) / per_group;
  }
  return o;
}

namespace detail {

struct cpu_tally {
  std::uint64_t lists = 0;
  picoseconds latency = 0;
  picoseconds longest = 0;
};

/// The memory of one queue, in the simulated machine.
inline ring_memory<platform> make_memory(machine& m, const options& o) {
  const unsigned log2 = o.log2_size;
  using word32 = platform::atomic<std::uint32_t>;
  using word64 = platform::atomic<std::uint64_t>;
  const std::size_t entries = std::size_t{1} << log2;
  ring_memory<platform> out;
  const std::size_t bytes = entries * sizeof(command);
  out.entries = static_cast<ring_entry<platform>*>(m.allocate(bytes, bytes));
  out.device_address = reinterpret_cast<std::uintptr_t>(out.entries);
  out.valid = static_cast<word32*>(m.allocate(valid_words(geometry{log2}) * sizeof(word32)));
  out.marks = static_cast<word64*>(m.allocate(entries * sizeof(word64)));
  out.range_ends = static_cast<word32*>(m.allocate(entries * sizeof(word32)));
  out.cells = static_cast<producer_cell<platform>*>(m.allocate(o.producers * sizeof(producer_cell<platform>)));
  out.groups = static_cast<gather_group<platform>*>(m.allocate(o.groups * sizeof(gather_group<platform>)));
  const std::size_t lines = o.producers * lines_per_mailbox(o.batch_limit);
  out.mailboxes = static_cast<mailbox_line<platform>*>(m.allocate(lines * sizeof(mailbox_line<platform>)));
  return out;
}

contention_result summarise(const machine& m, const device& d, const contention_options& o,
                            const std::vector<cpu_tally>& tallies);

/// How long after the end the last lists may take: as if each CPU's were executed on its own, several times over.
inline picoseconds grace(const topology& t, const contention_options& o) {
  return 10'000'000'000 + 8 * o.cpus * (t.device.sync + o.list_length * t.device.command);
}

inline picoseconds think_time(machine& m, picoseconds mean) { return mean - mean / 4 + m.random().below(mean / 2 + 1); }

}  // namespace detail

/// Throws what the plan was refused for.
template <class Config>
plan<platform> plan_or_throw(const options& q, const ring_memory<platform>& memory) {
  const auto p = make_plan<Config>(q, memory);
  if (!p)
    throw std::invalid_argument(
        fmt::format("{}: {} is {}, the limit is {}", name(p.code()), p.why().field, p.why().value, p.why().limit));
  return *p;
}

/// Runs the scenario. Throws std::runtime_error when the queue reports an error, and std::invalid_argument for options
/// that the queue or the topology refuses.
template <class Config>
contention_result run_contention(const topology& shape, const contention_options& o) {
  machine m(shape, o.cpus, o.seed);
  m.record_spans(o.spans);
  options q = options_for<Config>(o.cpus, o.cpus_per_group);
  q.log2_size = o.log2_size;
  q.batch_limit = o.list_length;
  const plan<platform> plan = plan_or_throw<Config>(q, detail::make_memory(m, q));
  device dev(m, plan.memory.entries, o.log2_size);
  using queue_type = command_queue<device, Config>;
  auto& queue = m.make<queue_type>(plan, dev);
  const std::vector<command> list(o.list_length, command{{0x12, 0}});  // TLBI_NH_VA
  std::vector<typename queue_type::producer> producers(o.cpus);
  for (auto& p : producers)
    if (queue.attach(p) != status::ok) throw std::runtime_error("a CPU could not attach to the queue");
  std::vector<detail::cpu_tally> tallies(o.cpus);
  const picoseconds end = o.warm_up + o.time;
  m.at_time(o.warm_up, [&m, &dev] {
    m.reset_counters();
    dev.reset_counters();
  });
  for (unsigned cpu = 0; cpu < o.cpus; ++cpu)
    m.start(cpu, [&, cpu] {
      auto& me = producers[cpu];
      m.spend(m.random().below(o.think + 1), other_work);
      while (m.now() < end) {
        m.spend(detail::think_time(m, o.think), other_work);
        const picoseconds begin = m.now();
        const outcome done = me.issue(list.data(), o.list_length);
        if (!done.ok()) throw std::runtime_error(fmt::format("CPU {}: issue() says {}", cpu, name(done.code)));
        m.add_span("list", begin);
        if (m.now() < o.warm_up || m.now() > end) continue;
        auto& t = tallies[cpu];
        ++t.lists;
        t.latency += m.now() - begin;
        t.longest = std::max(t.longest, m.now() - begin);
      }
    });
  m.run(end + detail::grace(shape, o));
  return detail::summarise(m, dev, o, tallies);
}

}  // namespace cmdq::manycore

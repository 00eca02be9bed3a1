// SPDX-License-Identifier: BSL-1.0
#include "queues.hpp"

#include <algorithm>
#include <bit>
#include <cmdq/multi/queue_set.hpp>
#include <memory>

#include "configurations.hpp"

namespace cmdq::manycore {

namespace {

constexpr std::size_t arena_for_queues = std::size_t{64} << 20;
constexpr unsigned least_log2 = 10;

/// A ring with room for four times what may be outstanding; alone, as the load says.
unsigned ring_log2(const queues_options& o) {
  if (o.queues == 1) return o.load.log2_size;
  const unsigned outstanding = o.load.cpus * (o.load.list_length + 1);
  return std::max(least_log2, static_cast<unsigned>(std::bit_width(4 * outstanding - 1)));
}

template <class Config>
class many_queues {
 public:
  many_queues(const topology& shape, const queues_options& o)
      : o_(o), m_(shape, o.load.cpus, o.load.seed, arena_for_queues), members_(o.load.cpus), tallies_(o.load.cpus) {
    core_.syncs_occupy_engine = o.syncs_occupy_engine;
    const unsigned sharing = (o.load.cpus + o.queues - 1) / o.queues;
    options q = options_for<Config>(sharing, o.load.cpus_per_group);
    q.producers = o.load.cpus;  // a member of the set is attached to each queue
    q.log2_size = ring_log2(o);
    q.batch_limit = o.load.list_length;
    for (unsigned i = 0; i < o.queues; ++i) {
      const plan<platform> p = plan_or_throw<Config>(q, detail::make_memory(m_, q));
      devices_.push_back(std::make_unique<device>(m_, p.memory.entries, q.log2_size, &core_));
      if (set_.add(m_.make<queue_type>(p, *devices_.back())) != status::ok)
        throw std::invalid_argument(fmt::format("{} queues, the limit is {}", o.queues, most_queues));
    }
    for (auto& member : members_)
      if (set_.join(member) != status::ok) throw std::runtime_error("a CPU could not join the set of queues");
  }

  queues_result run() {
    const picoseconds end = o_.load.warm_up + o_.load.time;
    m_.at_time(o_.load.warm_up, [this] {
      core_.engine_busy = 0;
      for (auto& d : devices_) d->reset_counters();
    });
    m_.at_time(end, [this] { busy_ = core_.engine_busy; });
    for (unsigned cpu = 0; cpu < o_.load.cpus; ++cpu) m_.start(cpu, [this, cpu, end] { body(cpu, end); });
    m_.run(end + detail::grace(m_.shape(), o_.load));
    return summary();
  }

 private:
  using queue_type = command_queue<device, Config>;
  using set_type = multi::queue_set<queue_type, most_queues>;

  void body(unsigned cpu, picoseconds end) {
    const std::vector<command> list(o_.load.list_length, command{{0x12, 0}});  // TLBI_NH_VA
    auto& mine = members_[cpu].of(cpu * o_.queues / o_.load.cpus);
    m_.spend(m_.random().below(o_.load.think + 1), other_work);
    while (m_.now() < end) {
      m_.spend(detail::think_time(m_, o_.load.think), other_work);
      const picoseconds begin = m_.now();
      const outcome done = mine.issue(list.data(), o_.load.list_length);
      if (!done.ok()) throw std::runtime_error(fmt::format("CPU {}: issue() says {}", cpu, name(done.code)));
      if (m_.now() < o_.load.warm_up || m_.now() > end) continue;
      auto& t = tallies_[cpu];
      ++t.lists;
      t.latency += m_.now() - begin;
      t.longest = std::max(t.longest, m_.now() - begin);
    }
  }

  [[nodiscard]] queues_result summary() const {
    queues_result r;
    std::uint64_t lists = 0;
    for (const auto& t : tallies_) {
      lists += t.lists;
      r.latency_ns += static_cast<double>(t.latency) / 1000;
      r.longest_ns = std::max(r.longest_ns, static_cast<double>(t.longest) / 1000);
    }
    std::uint64_t syncs = 0;
    std::uint64_t commands = 0;
    for (const auto& d : devices_) {
      syncs += d->syncs();
      commands += d->commands() - d->syncs();
    }
    const double seconds = static_cast<double>(o_.load.time) * 1e-12;
    r.per_cpu_per_second = static_cast<double>(lists) / seconds / o_.load.cpus;
    r.latency_ns /= static_cast<double>(std::max<std::uint64_t>(lists, 1));
    r.syncs_per_list =
        static_cast<double>(syncs) * o_.load.list_length / static_cast<double>(std::max<std::uint64_t>(commands, 1));
    r.engine_busy = std::min(1.0, static_cast<double>(busy_) * 1e-12 / seconds);
    return r;
  }

  queues_options o_;
  machine m_;
  device_core core_;
  std::vector<std::unique_ptr<device>> devices_;
  set_type set_;
  std::vector<typename set_type::member> members_;
  std::vector<detail::cpu_tally> tallies_;
  picoseconds busy_ = 0;
};

}  // namespace

queues_result run_queues(const std::string& strategy, const topology& shape, const queues_options& o) {
  if (o.queues < 1 || o.queues > most_queues || o.queues > o.load.cpus)
    throw std::invalid_argument(fmt::format("{} queues for {} CPUs, there may be 1 to {}", o.queues, o.load.cpus,
                                            std::min(most_queues, o.load.cpus)));
  queues_result r;
  bool found = false;
  each_configuration([&]<class Row>(Row) {
    if (strategy != Row::name) return;
    found = true;
    r = many_queues<simulated_config<Row, completion::poll_msi>>(shape, o).run();
  });
  if (!found) throw_unknown_strategy(strategy);
  return r;
}

}  // namespace cmdq::manycore

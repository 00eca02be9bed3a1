// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate dma`: CPUs of a simulated machine map and unmap buffers through the library's mapper, queue and all.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/dma/mapper.hpp>
#include <cmdq/dma/queue_invalidator.hpp>
#include <cmdq/model/scanout.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/reclaim/sync_locked.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "contention.hpp"
#include "errors.hpp"
#include "output/chart.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
#include "simulate/topology_file.hpp"

namespace cmdq::cli {

namespace {

using namespace manycore;

struct dma_arguments {
  std::string topology = "arm-server-128";
  std::vector<unsigned> cpus;
  std::vector<std::string> modes = {"strict", "lazy"};
  std::string strategy = "combining";
  std::string completion = "msi";
  std::string huge = "within_size";
  std::string soc;
  std::uint64_t buffer_kib = 4;
  unsigned devices = 1;
  std::uint32_t flush_entries = 256;
  double flush_ms = 10;
  double think_ns = -1;
  double time_ns = 1'000'000;
  std::uint64_t seed = 1;
  bool no_ranges = false;
  std::string json;
  std::string html;
};

struct dma_result {
  double pairs = 0;  ///< per CPU and second
  double commands_per_pair = 0;
  double syncs_per_pair = 0;
  double unmap_ns = 0;  ///< mean
  double longest_ns = 0;
  double device_busy = 0;
};

using simulated = manycore::platform;

constexpr unsigned log2_ring = 13;
constexpr unsigned log2_pages = 21;
constexpr std::uint64_t buffer_pa = 0x4000'0000;

picoseconds to_ps(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }

void require(status s, const char* what) {
  if (s != status::ok) throw std::runtime_error(fmt::format("simulate dma: {}: {}", what, name(s)));
}

struct free_aligned {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{4096}); }
};

/// One command queue with the device behind it, and one address space.
template <class Config>
struct unit {
  using queue_type = command_queue<manycore::device, Config>;
  using invalidator_type = dma::queue_invalidator<simulated, queue_type>;

  unit(machine& m, const dma_arguments& a, unsigned cpus, bool lazy)
      : bytes(static_cast<std::byte*>(::operator new (size(cpus), std::align_val_t{4096}))),
        memory(bytes.get(), size(cpus)) {
    options q = manycore::options_for<Config>(cpus);
    q.log2_size = log2_ring;
    q.batch_limit = 32;
    const auto plan = make_plan<Config>(q, manycore::detail::make_memory(m, q));
    if (!plan)
      throw input_error(
          fmt::format("the queue refuses {} = {}, limit {}", plan.why().field, plan.why().value, plan.why().limit));
    consumer = std::make_unique<manycore::device>(m, plan->memory.entries, log2_ring);
    queue = std::make_unique<queue_type>(*plan, *consumer);
    require(invalidator.init(memory, *queue, cpus, {.vmid = 0, .asid = 1, .ril = !a.no_ranges}), "invalidator");
    require(map.init(memory, {.iova = {.cpus = cpus, .depot_magazines = 256, .log2_pages = log2_pages}}, invalidator),
            "mapper");
    if (!lazy) return;
    const dma::flush_options flush{cpus, a.flush_entries, to_ps(a.flush_ms * 1e6) / 1000, false};
    require(map.set_mode(dma::mode::lazy, memory, flush), "flush queue");
  }
  static std::size_t size(unsigned cpus) {
    return (std::size_t{11} << log2_pages) + cpus * std::size_t{300'000} + (1 << 20);
  }

  std::unique_ptr<std::byte, free_aligned> bytes;
  dma::arena memory;
  std::unique_ptr<manycore::device> consumer;
  std::unique_ptr<queue_type> queue;
  invalidator_type invalidator;
  dma::mapper<simulated, invalidator_type> map;
};

/// Fills the IOVA magazines as a machine that has run for a while has them; costs no simulated time.
template <class Map>
void warm_up_magazines(Map& map, std::uint32_t cpu, std::uint64_t pages) {
  constexpr std::size_t blocks = 400;  // a full flush queue and a magazine
  if (pages > map.iova().largest_cached()) return;
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < blocks; ++i) out.push_back(map.iova().allocate(cpu, {.pages = pages}));
  for (const std::uint32_t page : out)
    if (page != dma::no_page) map.iova().free(cpu, page, pages);
}

struct tally {
  std::uint64_t pairs = 0;
  picoseconds unmapping = 0;
  picoseconds longest = 0;
};

template <class Config>
dma_result run_dma(const topology& shape, const dma_arguments& a, unsigned cpus, bool lazy) {
  machine m(shape, cpus, a.seed);
  std::vector<std::unique_ptr<unit<Config>>> units;
  for (unsigned d = 0; d < a.devices; ++d) units.push_back(std::make_unique<unit<Config>>(m, a, cpus, lazy));
  const auto huge = a.huge == "never"    ? dma::huge_pages::never
                    : a.huge == "always" ? dma::huge_pages::always
                                         : dma::huge_pages::within_size;
  const dma::device dev{true, {huge, false}};
  const std::uint64_t bytes = a.buffer_kib * 1024;
  for (unsigned cpu = 0; cpu < cpus; ++cpu)
    warm_up_magazines(units[cpu % a.devices]->map, cpu,
                      dma::mapped_bytes(dev.pages, dev.trusted, buffer_pa, bytes) >> dma::log2_4k);
  const picoseconds think = a.think_ns < 0 ? shape.think : to_ps(a.think_ns);
  const picoseconds warm_up = to_ps(a.time_ns) / 5;
  const picoseconds end = warm_up + to_ps(a.time_ns);
  m.at_time(warm_up, [&] {
    for (auto& u : units) u->consumer->reset_counters();
  });
  std::vector<tally> tallies(cpus);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    m.start(cpu, [&, cpu] {
      auto& map = units[cpu % a.devices]->map;
      const bool has_timer = lazy && cpu < a.devices;
      m.spend(m.random().below(think + 1), other_work);
      while (m.now() < end) {
        m.spend(manycore::detail::think_time(m, think), other_work);
        const auto iova = map.map(cpu, dev, buffer_pa, bytes);
        require(iova.code(), "map");
        const picoseconds begin = m.now();
        require(map.unmap(cpu, dev, *iova, bytes), "unmap");
        if (has_timer && map.deferred_ranges().timer_deadline() <= simulated::now_ns())
          map.on_timer(cpu, simulated::now_ns());
        if (m.now() < warm_up || m.now() > end) continue;
        tally& t = tallies[cpu];
        ++t.pairs;
        t.unmapping += m.now() - begin;
        t.longest = std::max(t.longest, m.now() - begin);
      }
    });
  }
  m.run(end + 10'000'000'000);
  tally sum;
  for (const tally& t : tallies) {
    sum.pairs += t.pairs;
    sum.unmapping += t.unmapping;
    sum.longest = std::max(sum.longest, t.longest);
  }
  dma_result r;
  const auto pairs = static_cast<double>(std::max<std::uint64_t>(sum.pairs, 1));
  double commands = 0;
  double syncs = 0;
  for (auto& u : units) {
    commands += static_cast<double>(u->consumer->commands());
    syncs += static_cast<double>(u->consumer->syncs());
    r.device_busy += static_cast<double>(u->consumer->busy()) / static_cast<double>(end - warm_up) / a.devices;
  }
  r.pairs = static_cast<double>(sum.pairs) / cpus / (a.time_ns / 1e9);
  r.commands_per_pair = commands / pairs;
  r.syncs_per_pair = syncs / pairs;
  r.unmap_ns = static_cast<double>(sum.unmapping) / pairs / 1000;
  r.longest_ns = static_cast<double>(sum.longest) / 1000;
  return r;
}

template <class Allocation, class Reclaim, class Completion>
struct dma_config : freestanding_config {
  using platform = manycore::platform;
  using allocation = Allocation;
  using completion = Completion;
  using reclaim = Reclaim;
};

/// As published: with the lock where the strategy takes it.
template <class Completion>
dma_result with_completion(const topology& t, const dma_arguments& a, unsigned cpus, bool lazy) {
#define CMDQ_RUN_DMA(name, locked)                                                       \
  if (a.strategy == #name) {                                                             \
    using reclaim = std::conditional_t<locked, reclaim::sync_locked, reclaim::counted>;  \
    return run_dma<dma_config<allocation::name, reclaim, Completion>>(t, a, cpus, lazy); \
  }
  CMDQ_FOR_EACH_STRATEGY(CMDQ_RUN_DMA)
#undef CMDQ_RUN_DMA
  throw input_error(fmt::format("--strategy {}: no such strategy", a.strategy));
}

std::vector<std::string> strategy_names() {
#define CMDQ_NAME(name, locked) #name,
  return {CMDQ_FOR_EACH_STRATEGY(CMDQ_NAME)};
#undef CMDQ_NAME
}

void check(const dma_arguments& a, const topology& t) {
  for (const unsigned c : a.cpus)
    if (c < 1 || c > t.cpus())
      throw input_error(fmt::format("--cpus {}: the topology \"{}\" has 1 to {} CPUs", c, t.name, t.cpus()));
}

/// A SoC whose safe table is missing: each CMD_SYNC takes its gate's maximum delay.
void add_gate(topology& t, const std::string& soc) {
  if (soc.empty()) return;
  const model::display_soc* found = model::find_display_soc(soc.c_str());
  if (found == nullptr) throw input_error(fmt::format("--soc {}: no such SoC; `cmdq simulate safe` lists them", soc));
  t.device.sync += found->max_delay_ns * 1000;
}

std::string page(const dma_arguments& a, const std::vector<chart_line>& lines) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cmdq simulate dma</title></head><body>\n"
      "<h1>Map and unmap on a simulated machine</h1>\n<p>{}: buffers of {} KiB, huge pages {}, {}, completion by {}, "
      "{} "
      "device(s).</p>\n{}</body></html>\n",
      escaped(a.topology), a.buffer_kib, escaped(a.huge), escaped(a.strategy), escaped(a.completion), a.devices,
      line_chart({"Map and unmap pairs", "CPUs", "pairs per CPU and second", true, true}, lines));
}

nlohmann::ordered_json to_json(const dma_result& r) {
  return {{"pairs_per_cpu_per_second", r.pairs}, {"commands_per_pair", r.commands_per_pair},
          {"syncs_per_pair", r.syncs_per_pair},  {"unmap_ns", r.unmap_ns},
          {"longest_ns", r.longest_ns},          {"device_busy", r.device_busy}};
}

/// One row; false when the options were refused for it.
bool add_row(results& out, const topology& t, const dma_arguments& a, const std::string& mode, unsigned cpus,
             chart_line& line) {
  nlohmann::ordered_json row = {{"cpus", cpus}, {"mode", mode}};
  std::string text;
  bool done = true;
  try {
    const bool lazy = mode == "lazy";
    const dma_result r = a.completion == "msi" ? with_completion<completion::poll_msi>(t, a, cpus, lazy)
                                               : with_completion<completion::poll_cons>(t, a, cpus, lazy);
    text = fmt::format("{:>14.0f} {:>14.3f} {:>11.4f} {:>10.0f} {:>13.0f} {:>7.0f}%", r.pairs, r.commands_per_pair,
                       r.syncs_per_pair, r.unmap_ns, r.longest_ns, 100 * r.device_busy);
    row.update(to_json(r));
    line.points.emplace_back(cpus, r.pairs);
  } catch (const input_error& e) {
    done = false;
    text = fmt::format("refused: {}", e.what());
    row["refused"] = e.what();
  }
  out.add([&](auto& j) { j["rows"].push_back(row); });
  out.say(fmt::format("{:>5} {:<7} {}\n", cpus, mode, text));
  return done;
}

void run(dma_arguments a) {
  topology t = read_topology(a.topology);
  if (a.cpus.empty())
    for (unsigned c = 1; c <= t.cpus(); c *= 2) a.cpus.push_back(c);
  check(a, t);
  add_gate(t, a.soc);
  results out(a.json);
  output_file html("--html", a.html);
  out.add([&](auto& j) {
    j.update({{"topology", a.topology},
              {"strategy", a.strategy},
              {"completion", a.completion},
              {"buffer_kib", a.buffer_kib},
              {"huge", a.huge},
              {"devices", a.devices},
              {"soc", a.soc},
              {"rows", nlohmann::ordered_json::array()}});
  });
  std::vector<chart_line> lines;
  unsigned refused = 0;
  out.say(fmt::format("{:>5} {:<7} {:>14} {:>14} {:>11} {:>10} {:>13} {:>8}\n", "CPUs", "mode", "pairs/CPU/s",
                      "commands/pair", "syncs/pair", "unmap ns", "longest ns", "device"));
  progress line(a.modes.size() * a.cpus.size());
  for (const auto& mode : a.modes) {
    lines.push_back({mode, {}});
    for (const unsigned cpus : a.cpus) {
      line.step(fmt::format("{} {} CPUs", mode, cpus));
      refused += add_row(out, t, a, mode, cpus, lines.back()) ? 0 : 1;
    }
  }
  out.finish();
  if (html.wanted()) html.write(page(a, lines));
  if (refused != 0) throw input_error(fmt::format("{} runs were refused; the reasons are in their rows", refused));
}

}  // namespace

void add_simulate_dma(arguments& simulate) {
  arguments command = simulate.add("dma", "Many CPUs map and unmap buffers on a simulated machine");
  auto a = std::make_shared<dma_arguments>();
  command.text("--topology", a->topology, "A shipped machine or a JSON file");
  command.numbers("--cpus", a->cpus, 1, max_cpus, "CPUs to use; default 1, 2, 4 and so on up to all");
  command.number("--devices", a->devices, 1, 4, "Devices, each with its own queue; CPUs are dealt out to them");
  command.choices("--mode", a->modes, {"strict", "lazy"}, "When the TLB is invalidated");
  command.number("--buffer", a->buffer_kib, 1, 16384, "Size of a buffer, KiB");
  command.choice("--huge", a->huge, {"never", "within_size", "always"}, "Page policy");
  command.choice("--strategy", a->strategy, strategy_names(), "How the queue is shared");
  command.choice("--completion", a->completion, {"msi", "cons"}, "How a CMD_SYNC is waited for");
  command.text("--soc", a->soc, "Each CMD_SYNC takes the maximum delay of this SoC's SAFE gate: its table is missing");
  command.flag("--no-ranges", a->no_ranges, "The device has no range invalidation");
  command.number("--flush-entries", a->flush_entries, 1, 4096, "Lazy: entries of a CPU's flush queue");
  command.number("--flush-ms", a->flush_ms, 0.001, 10'000, "Lazy: a deferred range waits at most so long");
  command.number("--think", a->think_ns, 0, 1e9, "Other work per pair, ns; default: the topology's");
  command.number("--time", a->time_ns, 1000, 1e10, "Simulated time, ns, after a fifth of it as warm-up");
  command.number("--seed", a->seed, 0, ~std::uint64_t{0}, "Seed of all that is random");
  command.json(a->json);
  command.text("--html", a->html, "Write a page with a chart to this file");
  command.runs([a] { run(*a); });
}

}  // namespace cmdq::cli

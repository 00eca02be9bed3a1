// SPDX-License-Identifier: BSL-1.0
// Pairs of map and unmap per second and thread, as a kernel's map benchmark counts them, through the real queue into
// the modelled device, which executes inside the PROD writes. More threads than cores measure the scheduler as well.
#include <benchmark/benchmark.h>

#include <cmdq/cmdq.hpp>
#include <cmdq/dma/mapper.hpp>
#include <cmdq/dma/queue_invalidator.hpp>
#include <cmdq/model/hardware.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace cmdq;
using P = default_config::platform;

void require(status s) {
  if (s != status::ok) throw std::runtime_error(std::string("bench_dma: ") + name(s));
}

struct world {
  static constexpr unsigned log2_ring = 14;
  static constexpr std::uint32_t cpus = 128;
  using hardware = model::hardware<P, ring_entry<P>>;
  using queue_type = command_queue<hardware, default_config>;
  using invalidator_type = dma::queue_invalidator<P, queue_type>;

  world(bool lazy, dma::iova_options iova) : memory_(bytes_.data(), bytes_.size()) {
    iova.cpus = cpus;
    iova.depot_magazines = 256;
    const auto ring = ring_->memory();
    require(device_.attach(ring.entries, log2_ring, ring.device_address));
    const auto plan = make_plan<default_config>({.log2_size = log2_ring, .producers = cpus}, ring);
    require(plan.code());
    queue_ = std::make_unique<queue_type>(*plan, device_);
    require(invalidator_.init(memory_, *queue_, cpus, {.vmid = 0, .asid = 1, .ril = true}));
    require(map.init(memory_, {.iova = iova}, invalidator_));
    if (lazy) require(map.set_mode(dma::mode::lazy, memory_, {.cpus = cpus}));
  }
  [[nodiscard]] double syncs() const { return static_cast<double>(device_.syncs); }
  /// How often the lock that all CPUs share was taken.
  [[nodiscard]] double shared_locks() { return static_cast<double>(map.iova().space().operations()); }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(40 << 20);
  dma::arena memory_;
  std::unique_ptr<fixed_memory<P, log2_ring, cpus>> ring_ = std::make_unique<fixed_memory<P, log2_ring, cpus>>();
  hardware device_{model::device_drive::in_write};
  std::unique_ptr<queue_type> queue_;
  invalidator_type invalidator_;

 public:
  dma::mapper<P, invalidator_type> map;
};

std::unique_ptr<world> shared;

void map_unmap(benchmark::State& state, bool lazy, const dma::iova_options& space) {
  if (state.thread_index() == 0) shared = std::make_unique<world>(lazy, space);
  const auto cpu = static_cast<std::uint32_t>(state.thread_index());
  const std::uint64_t bytes = static_cast<std::uint64_t>(state.range(0)) * 1024;
  const dma::device dev{};
  for ([[maybe_unused]] auto _ : state) {
    const auto iova = shared->map.map(cpu, dev, 0x4000'0000, bytes);
    const status s = iova.ok() ? shared->map.unmap(cpu, dev, *iova, bytes) : iova.code();
    if (s != status::ok) {
      state.SkipWithError((std::string(iova.ok() ? "unmap: " : "map: ") + name(s)).c_str());
      break;
    }
  }
  state.counters["pairs_per_thread"] = benchmark::Counter(
      static_cast<double>(state.iterations()), benchmark::Counter::kIsRate | benchmark::Counter::kAvgThreads);
  if (state.thread_index() == 0) {
    state.counters["syncs"] = shared->syncs();
    const auto pairs = static_cast<double>(state.iterations()) * state.threads();
    state.counters["shared_locks_per_pair"] = shared->shared_locks() / pairs;
    shared.reset();
  }
}

/// As shipped; with one more size class, whose blocks 132 KiB take; with a space of which any part may stay unused for
/// the sake of 2 MiB pages.
constexpr dma::iova_options shipped{};
constexpr dma::iova_options class_256k{.size_classes = 7};
constexpr dma::iova_options roomy{.hole_percent = 100};

#define CMDQ_BENCH_BOTH(NAME, OPTIONS, ...)                                                                   \
  BENCHMARK_CAPTURE(map_unmap, strict##NAME, false, OPTIONS) __VA_ARGS__->ThreadRange(1, 128)->UseRealTime(); \
  BENCHMARK_CAPTURE(map_unmap, lazy##NAME, true, OPTIONS) __VA_ARGS__->ThreadRange(1, 128)->UseRealTime()

CMDQ_BENCH_BOTH(, shipped, ->Arg(4)->Arg(128)->Arg(132)->Arg(2052));
CMDQ_BENCH_BOTH(_256k_cached, class_256k, ->Arg(132));
CMDQ_BENCH_BOTH(_roomy, roomy, ->Arg(2052));

}  // namespace

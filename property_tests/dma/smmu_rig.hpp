// SPDX-License-Identifier: BSL-1.0
// The whole way: mapper, command queue, modelled device, and translations that the device caches and drops by the
// model's rules. A thread steps the device; others may translate at the same time.
#pragma once

#include <cmdq/cmdq.hpp>
#include <cmdq/dma/mapper.hpp>
#include <cmdq/dma/queue_invalidator.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/model/iotlb.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cmdq::test {

/// What the device has cached, by address. A walk and its entry are one step under the lock, and so is an invalidation:
/// what a walk found before a TLBI, that TLBI drops.
template <class P>
class cached_translations {
 public:
  static constexpr dma::address_space space{3, 7, true};

  void apply(const command& raw) {
    const auto c = smmuv3::decode(raw);
    if (!c) return;
    const one_step guard(mutex_);
    if (class_of(raw.word[0]) == command_class::tlb) ++tlbi;
    std::erase_if(lines_, [&](const auto& kept) { return model::invalidates(*c, kept.second.entry, false); });
  }

  /// What the device reaches at `iova`; `look(translation)` runs while no invalidation can.
  template <class Look>
  void translate(std::uint64_t iova, const Look& look) {
    const one_step guard(mutex_);
    const dma::translation hit = cached(iova);
    look(hit.valid ? hit : fill(iova));
  }
  bool holds(std::uint64_t iova) {
    const one_step guard(mutex_);
    return cached(iova).valid;
  }
  /// True when a cached translation of [iova, iova + bytes) leads elsewhere than to `pa`.
  bool stale(std::uint64_t iova, std::uint64_t pa, std::uint64_t bytes) {
    const one_step guard(mutex_);
    for (std::uint64_t at = 0; at < bytes; at += 4096) {
      const dma::translation t = cached(iova + at);
      if (t.valid && t.pa != pa + at) return true;
    }
    return false;
  }

  /// From here on misses are walked in `t`; nullptr: nothing is found.
  void walk(const dma::page_table<P>* t) {
    const one_step guard(mutex_);
    table_ = t;
  }
  /// Translations cached.
  std::size_t lines() {
    const one_step guard(mutex_);
    return lines_.size();
  }

  std::atomic<std::uint64_t> tlbi{0};

 private:
  struct line {
    model::tlb_entry entry;
    std::uint64_t pa;
  };
  dma::translation cached(std::uint64_t iova) const {
    for (const unsigned log2 : {dma::log2_4k, dma::log2_2m}) {
      const std::uint64_t low = (std::uint64_t{1} << log2) - 1;
      const auto e = lines_.find({iova & ~low, log2});
      if (e != lines_.end()) return {true, e->second.pa + (iova & low), log2};
    }
    return {};
  }
  dma::translation fill(std::uint64_t iova) {
    const dma::translation t = table_ == nullptr ? dma::translation{} : table_->walk(iova);
    if (!t.valid) return t;
    // A 64 KiB page is 16 level-3 descriptors; this device caches the one it needs.
    const unsigned log2 = t.page_log2 == dma::log2_2m ? dma::log2_2m : dma::log2_4k;
    const std::uint64_t low = (std::uint64_t{1} << log2) - 1;
    model::tlb_entry e;
    e.vmid = space.vmid;
    e.asid = space.asid;
    e.level = log2 == dma::log2_2m ? 2 : 3;
    e.address = iova & ~low;
    lines_[{e.address, log2}] = {e, t.pa & ~low};
    return t;
  }

  /// One step: under a lock between threads, without a scheduling point between fibers of one thread.
  class one_step {
   public:
    explicit one_step(std::recursive_mutex& m) : guard_(m) { peek(true); }
    ~one_step() { peek(false); }
    one_step(const one_step&) = delete;
    one_step& operator=(const one_step&) = delete;

   private:
    static void peek([[maybe_unused]] bool on) {
      if constexpr (requires { P::peeking; }) P::peeking = on;
    }
    std::scoped_lock<std::recursive_mutex> guard_;
  };
  const dma::page_table<P>* table_ = nullptr;
  std::recursive_mutex mutex_;
  std::map<std::pair<std::uint64_t, unsigned>, line> lines_;
};

/// Hooks that apply each command to the translations and may count or record it.
template <class P>
struct translating_hooks : model::null_hooks {
  cached_translations<P>* to = nullptr;
  std::vector<command>* log = nullptr;
  void effect(const command& c) noexcept { to->apply(c); }
  void executed(position, const command& c, std::uint64_t) noexcept {
    if (log != nullptr) log->push_back(c);
  }
};

template <class Config>
struct smmu_rig {
  using P = typename Config::platform;
  using entry = ring_entry<P>;
  using hardware = model::hardware<P, entry, translating_hooks<P>>;
  using queue_type = command_queue<hardware, Config>;
  using invalidator_type = dma::queue_invalidator<P, queue_type>;
  static constexpr unsigned log2_ring = 14;
  static constexpr std::uint32_t most_producers = 320;
  static constexpr std::uint64_t base = std::uint64_t{1} << 30;

  /// How the rig differs from the usual.
  struct ways {
    std::vector<command>* log = nullptr;  ///< commands executed
    dma::address_space space = cached_translations<P>::space;
    dma::mapper_options options{};  ///< base, cpus and the like are the rig's
    bool by_hand = false;           ///< a stepped device has no thread
    std::uint64_t deadline_ns = no_deadline;
  };

  /// `cpus`: numbers that mapping threads use; one more is there for the timer. Two producers for each.
  smmu_rig(unsigned log2_pages, std::uint32_t cpus, model::device_drive drive)
      : smmu_rig(log2_pages, cpus, drive, {}) {}
  smmu_rig(unsigned log2_pages, std::uint32_t cpus, model::device_drive drive, const ways& w)
      : bytes((std::size_t{16} << log2_pages) + (cpus + 1) * std::size_t{80'000} + (1 << 20)),
        ring(std::make_unique<fixed_memory<P, log2_ring, most_producers>>()),
        device(drive, {}, hooks(w.log)) {
    memory = dma::arena(bytes.data(), bytes.size());
    options o;
    o.log2_size = log2_ring;
    o.producers = 2 * (cpus + 1);
    o.batch_limit = 32;
    o.deadline_ns = w.deadline_ns;
    const auto plan = make_plan<Config>(o, ring->memory());
    require(plan.code());
    const auto m = ring->memory();
    require(device.attach(m.entries, log2_ring, m.device_address));
    queue = std::make_unique<queue_type>(*plan, device);
    require(invalidator.init(memory, *queue, o.producers, w.space));
    dma::mapper_options wanted = w.options;
    wanted.base = base;
    wanted.iova = {.cpus = cpus + 1, .depot_magazines = 64, .log2_pages = log2_pages, .hole_percent = 100};
    require(map.init(memory, wanted, invalidator));
    tlb.walk(&map.table());
    if (drive == model::device_drive::stepped && !w.by_hand) {
      stepper = std::thread([this] { device.run_until([this] { return stop.load(); }); });
    }
  }
  ~smmu_rig() {
    stop = true;
    if (stepper.joinable()) stepper.join();
  }
  translating_hooks<P> hooks(std::vector<command>* log) {
    translating_hooks<P> h;
    h.to = &tlb;
    h.log = log;
    return h;
  }
  static void require(status s) {
    if (s != status::ok) throw std::runtime_error(std::string("set-up of the rig: ") + name(s));
  }

  std::vector<std::byte> bytes;
  dma::arena memory;
  std::unique_ptr<fixed_memory<P, log2_ring, most_producers>> ring;
  cached_translations<P> tlb;
  hardware device;
  std::unique_ptr<queue_type> queue;
  invalidator_type invalidator;
  dma::mapper<P, invalidator_type> map;
  std::atomic<bool> stop{false};
  std::thread stepper;
};

}  // namespace cmdq::test

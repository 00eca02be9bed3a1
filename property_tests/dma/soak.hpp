// SPDX-License-Identifier: BSL-1.0
// Many threads map and unmap through the queue, each interrupted at random accesses by a handler that does the same,
// while the device translates and writes wherever it can, mappers are drained and resumed, and torn down and made anew
// with the same ASID. What the device may reach is known from what the threads do, not from the page table.
#pragma once

#include <array>
#include <chrono>
#include <cstring>

#include "dma/interrupts.hpp"
#include "dma/smmu_rig.hpp"
#include "dma/support.hpp"

namespace cmdq::test {

struct thread_cpu {
  inline static thread_local interrupts* mine = nullptr;
  static interrupts* here() { return mine; }
};

struct soak_config : default_config {
  using platform = interrupted<cmdq::platform::std_atomic, thread_cpu>;
};

struct soak_result {
  std::uint64_t pairs = 0;       ///< map + unmap
  std::uint64_t interrupts = 0;  ///< handlers run
  std::uint64_t refused = 0;     ///< calls that did not return what they must
  std::uint64_t full = 0;        ///< maps that found no space
  std::uint64_t stale = 0;       ///< a fresh IOVA that a cached translation leads elsewhere
  std::uint64_t dead = 0;        ///< strict: memory reached after its unmap returned
  std::uint64_t changed = 0;     ///< bytes beside a buffer, or after its strict unmap, that the device changed
  std::uint64_t hits = 0;        ///< translations that the device was given
  std::uint64_t writes = 0;      ///< pages that it wrote whole
  std::uint64_t leaked = 0;      ///< pages not given back
  std::uint64_t lost = 0;        ///< ranges given up
  std::uint64_t tlbi = 0;
  std::uint64_t flushes = 0;
  std::uint64_t drains = 0;
  std::uint64_t teardowns = 0;
  [[nodiscard]] bool clean() const { return refused + full + stale + dead + changed + leaked + lost == 0; }
};

class soak {
 public:
  using P = soak_config::platform;
  using rig_type = smmu_rig<soak_config>;
  using mapper_type = dma::mapper<P, rig_type::invalidator_type>;
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t slots = 4;       ///< buffers of a thread, and as many of its handler
  static constexpr std::uint64_t slot_pages = 3;  ///< memory around a buffer of at most two pages
  static constexpr unsigned log2_pages = 14;
  static constexpr std::uint64_t ram_pa = std::uint64_t{1} << 32;

  soak(std::uint32_t threads, bool lazy)
      : threads_(threads),
        lazy_(lazy),
        pool_pages_(static_cast<std::uint32_t>(threads * 2 * slots * 2)),
        rig_(4, threads, model::device_drive::stepped),
        ram_(ram_pa, (pool_pages_ + threads * 2 * slots * slot_pages) * page),
        bytes_((std::size_t{16} << log2_pages) + (threads + 1) * std::size_t{80'000} + (std::size_t{1} << 20)),
        alive_(ram_.size() / page),
        announced_(threads * 2 * slots) {}

  /// Runs until `end`, at least `rounds` steps per thread, in generations of at most `generation`.
  soak_result run(std::chrono::steady_clock::time_point end, std::uint64_t rounds,
                  std::chrono::milliseconds generation = std::chrono::milliseconds(1000)) {
    set_up();
    std::thread probe([this] { translate(); });
    std::thread writer([this] { write(); });
    do {
      one_generation(std::min(end, std::chrono::steady_clock::now() + generation), rounds);
      tear_down();
      set_up();
    } while (std::chrono::steady_clock::now() < end);
    done_ = true;
    probe.join();
    writer.join();
    r_.tlbi = rig_.tlb.tlbi;
    r_.hits = hits_;
    r_.dead = dead_;
    r_.writes = writes_;
    return r_;
  }

 private:
  /// What one thread, or its handler, has mapped.
  class actor {
   public:
    actor(soak& all, std::uint32_t cpu, std::uint32_t index)
        : all_(all), cpu_(cpu), index_(index), state_(index + 1), trusted_(index % 4 < 2) {
      for (std::uint64_t s = 0; s < slots; ++s) paint(s);
    }
    void step() {
      state_ = state_ * 1664525U + 1013904223U;
      const std::uint64_t s = (state_ >> 8) % slots;
      if ((state_ >> 24) == 0) {
        ok_or_closed(all_.map_->flush(cpu_));
      } else if ((state_ >> 24) < 4) {
        all_.map_->on_timer(cpu_, P::now_ns());
      } else if (mine_[s].iova == 0) {
        map(s);
      } else {
        unmap(s);
      }
    }
    void unmap_all() {
      for (std::uint64_t s = 0; s < slots; ++s)
        while (mine_[s].iova != 0) unmap(s);
    }
    std::uint64_t pairs = 0, refused = 0, full = 0, stale = 0, changed = 0;

   private:
    struct slot {
      std::uint64_t iova = 0;
      std::uint64_t pa = 0;
      std::uint64_t bytes = 0;
    };
    [[nodiscard]] std::uint64_t first(std::uint64_t s) const {
      return all_.buffers_pa() + (index_ * slots + s) * slot_pages * page;
    }
    [[nodiscard]] dma::device device() const { return {trusted_, {dma::huge_pages::never, false}}; }
    unsigned char pattern(std::uint64_t pa) const { return static_cast<unsigned char>(pa * 13 + pa / page + index_); }
    /// All of a slot's memory has its pattern: the device's doing is undone.
    void paint(std::uint64_t s) {
      for (std::uint64_t pa = first(s); pa < first(s) + slot_pages * page; ++pa) all_.ram_.at(pa) = pattern(pa);
    }
    /// Untrusted: nothing but [low, high) may differ from its pattern; what was painted after an unmap may not at all.
    void check(std::uint64_t s, std::uint64_t low, std::uint64_t high) {
      for (std::uint64_t pa = first(s); pa < first(s) + slot_pages * page; ++pa)
        if ((pa < low || pa >= high) && all_.ram_.at(pa) != pattern(pa)) ++changed;
    }
    [[nodiscard]] bool strict() const { return !trusted_ || !all_.lazy_; }
    void ok_or_closed(status s) {
      if (s != status::ok && s != status::would_block) ++refused;
    }
    void set_alive(const slot& b, bool on) {
      for (std::uint64_t pa = b.pa / page * page; pa < b.pa + b.bytes; pa += page)
        all_.alive_[(pa - ram_pa) / page] = on;
    }
    void map(std::uint64_t s) {
      slot b;
      b.pa = first(s) + (trusted_ ? 0 : (state_ >> 4) % page);
      b.bytes = trusted_ ? (1 + (state_ >> 20) % 2) * page : 1 + (state_ >> 12) % (2 * page - 1);
      if (strict()) check(s, 0, 0);
      // An untrusted device reaches whole pages only.
      const bool whole_pages = trusted_;
      const std::uint64_t inner = (b.pa + page - 1) / page * page;
      if (whole_pages || inner + page <= b.pa + b.bytes) {
        const slot direct = whole_pages ? b : slot{0, inner, (b.pa + b.bytes - inner) / page * page};
        set_alive(direct, true);
      }
      const auto iova = all_.map_->map(cpu_, device(), b.pa, b.bytes);
      if (!iova.ok()) {
        set_alive(b, false);
        if (iova.code() != status::would_block) ++full;
        return;
      }
      b.iova = *iova;
      if (trusted_ && all_.rig_.tlb.stale(b.iova, b.pa, b.bytes)) ++stale;
      mine_[s] = b;
      all_.announced_[index_ * slots + s].store(b.iova, std::memory_order_release);
    }
    void unmap(std::uint64_t s) {
      const slot b = mine_[s];
      all_.announced_[index_ * slots + s].store(0);
      const status done = all_.map_->unmap(cpu_, device(), b.iova, b.bytes);
      if (done == status::would_block) return;  // drained: tried again
      mine_[s] = {};
      if (done != status::ok) ++refused;
      set_alive(b, false);
      ++pairs;
      if (!strict()) return;
      if (!trusted_) check(s, b.pa, b.pa + b.bytes);
      paint(s);
    }

    soak& all_;
    const std::uint32_t cpu_;
    const std::uint32_t index_;
    std::uint32_t state_;
    const bool trusted_;
    std::array<slot, slots> mine_{};
  };
  friend class actor;

  [[nodiscard]] std::uint64_t buffers_pa() const { return ram_pa + pool_pages_ * page; }

  void set_up() {
    dma::arena memory(bytes_.data(), bytes_.size());
    auto next = std::make_unique<mapper_type>();
    dma::mapper_options o;
    o.base = rig_type::base;
    o.iova = {.cpus = threads_ + 1, .depot_magazines = 64, .log2_pages = log2_pages};
    o.pool = ram_.pool(pool_pages_);
    o.view = ram_.view();
    rig_.tlb.walk(nullptr);
    rig_type::require(next->init(memory, o, rig_.invalidator));
    if (lazy_)
      rig_type::require(next->set_mode(dma::mode::lazy, memory, {.cpus = threads_ + 1, .period_ns = 1'000'000}));
    map_ = std::move(next);
    rig_.tlb.walk(&map_->table());
  }

  void one_generation(std::chrono::steady_clock::time_point end, std::uint64_t rounds) {
    std::vector<std::unique_ptr<actor>> actors;
    for (std::uint32_t i = 0; i < 2 * threads_; ++i) actors.push_back(std::make_unique<actor>(*this, i / 2, i));
    std::vector<std::thread> pool;
    std::vector<interrupts> cpus(threads_);
    std::atomic<bool> over{false};
    for (std::uint32_t t = 0; t < threads_; ++t) {
      pool.emplace_back([&, t] {
        actor& handler = *actors[2 * t + 1];
        cpus[t].start([&handler] { handler.step(); }, {53 + t % 7, 11, 197, 401});
        thread_cpu::mine = &cpus[t];
        for (std::uint64_t i = 0; i < rounds || std::chrono::steady_clock::now() < end; ++i) actors[2 * t]->step();
        cpus[t].stop();
        thread_cpu::mine = nullptr;
        actors[2 * t]->unmap_all();
        handler.unmap_all();
      });
    }
    std::thread power([&] { manage(over); });
    for (auto& t : pool) t.join();
    over = true;
    power.join();
    for (const auto& a : actors) {
      r_.pairs += a->pairs;
      r_.refused += a->refused;
      r_.full += a->full;
      r_.stale += a->stale;
      r_.changed += a->changed;
    }
    for (const auto& c : cpus) r_.interrupts += c.taken;
  }

  /// The timer, and now and then the device loses its power and comes back.
  void manage(const std::atomic<bool>& over) {
    for (unsigned i = 1; !over; ++i) {
      map_->on_timer(threads_, P::now_ns());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (i % 100 != 0) continue;
      // On a busy machine a call inside may take any time to end: only that it does end counts.
      status s = status::timeout;
      while (s == status::timeout) s = map_->drain(threads_, 1'000'000'000);
      if (s != status::ok) ++r_.refused;
      if (map_->resume(threads_) != status::ok) ++r_.refused;
      ++r_.drains;
    }
  }

  /// The mapper ends; the next one has its ASID and its addresses.
  void tear_down() {
    const dma::device dev{true, {dma::huge_pages::never, false}};
    alive_[pool_pages_] = true;
    const auto left = map_->map(0, dev, buffers_pa(), page);
    if (map_->close(0).value != 1) ++r_.refused;  // one is mapped
    if (!left.ok() || map_->unmap(0, dev, *left, page) != status::ok) ++r_.refused;
    alive_[pool_pages_] = false;
    if (lazy_) r_.flushes += map_->deferred_ranges().flushes();
    if (map_->close(0).code != status::ok) ++r_.refused;
    r_.leaked += map_->iova().space().used_pages() + map_->pool().used_pages();
    r_.lost += map_->lost_ranges();
    if (rig_.tlb.lines() != 0) ++r_.stale;  // nothing for the next owner
    ++r_.teardowns;
  }

  void translate() {
    std::uint32_t state = 99;
    std::uint32_t turns = 0;
    while (!done_) {
      state = state * 1664525U + 1013904223U;
      const std::uint64_t iova = rig_type::base + std::uint64_t{state >> 8} % (1U << 11) * page;
      rig_.tlb.translate(iova, [&](const dma::translation& t) {
        if (!t.valid) return;
        ++hits_;
        // Trusted buffers of a lazy mapper are out of the promise until the flush.
        const std::uint64_t frame = (t.pa - ram_pa) / page;
        if (frame >= pool_pages_ && !lazy_ && !alive_[frame]) ++dead_;
      });
      if (++turns % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  /// A device that writes every byte of every page that it is led to.
  void write() {
    std::uint32_t state = 7;
    std::uint32_t turns = 0;
    while (!done_) {
      state = state * 1664525U + 1013904223U;
      std::atomic<std::uint64_t>& word = announced_[(state >> 8) % announced_.size()];
      const std::uint64_t iova = word.load(std::memory_order_acquire);
      if (iova == 0) continue;
      rig_.tlb.translate(iova, [&](const dma::translation& t) {
        if (!t.valid || word.load(std::memory_order_acquire) != iova) return;
        std::memset(&ram_.at(t.pa / page * page), 0x5a, page);
        ++writes_;
      });
      if (++turns % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));  // others want the lock, too
    }
  }

  const std::uint32_t threads_;
  const bool lazy_;
  const std::uint32_t pool_pages_;
  rig_type rig_;
  physical_memory ram_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<mapper_type> map_;
  std::vector<std::atomic<bool>> alive_;               ///< per 4 KiB of memory: the device may reach it
  std::vector<std::atomic<std::uint64_t>> announced_;  ///< IOVA of each slot, for the device to write to
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> hits_{0}, dead_{0}, writes_{0};
  soak_result r_;
};

}  // namespace cmdq::test

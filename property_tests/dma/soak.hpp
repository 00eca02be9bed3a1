// SPDX-License-Identifier: BSL-1.0
// Many threads map and unmap through the queue while the device translates; every violation is counted.
#pragma once

#include <array>
#include <chrono>

#include "dma/smmu_rig.hpp"

namespace cmdq::test {

struct soak_result {
  std::uint64_t pairs = 0;    ///< map + unmap
  std::uint64_t refused = 0;  ///< unmaps that did not return ok
  std::uint64_t full = 0;     ///< maps that found no space
  std::uint64_t stale = 0;    ///< a fresh IOVA that a cached translation leads elsewhere
  std::uint64_t dead = 0;     ///< strict: memory reached after its unmap returned
  std::uint64_t hits = 0;     ///< translations that the device was given
  std::uint64_t leaked = 0;   ///< pages not given back
  std::uint64_t lost = 0;     ///< ranges given up
  std::uint64_t tlbi = 0;
  std::uint64_t flushes = 0;
  [[nodiscard]] bool clean() const {
    return refused == 0 && stale == 0 && dead == 0 && leaked == 0 && lost == 0 && full == 0;
  }
};

template <class Config>
class soak {
 public:
  static constexpr std::uint64_t slots = 8;
  static constexpr unsigned log2_pages = 14;

  soak(std::uint32_t threads, bool lazy)
      : threads_(threads),
        lazy_(lazy),
        rig_(log2_pages, threads, model::device_drive::stepped),
        alive_(threads * slots * frames) {
    if (!lazy) return;
    using rig_type = smmu_rig<Config>;
    rig_type::require(rig_.map.set_mode(dma::mode::lazy, rig_.memory, {.cpus = threads + 1, .period_ns = 1'000'000}));
  }

  /// Runs until `end`, at least `rounds` steps per thread, and until the device has translated something.
  soak_result run(std::chrono::steady_clock::time_point end, std::uint64_t rounds) {
    std::thread master([this] { translate(); });
    std::thread timer([this] { tick(); });
    std::vector<std::thread> pool;
    for (std::uint32_t t = 0; t < threads_; ++t) pool.emplace_back([this, t, end, rounds] { work(t, end, rounds); });
    for (auto& t : pool) t.join();
    done_ = true;
    master.join();
    timer.join();
    soak_result r;
    r.refused = refused_;
    if (rig_.map.close(0) != status::ok) ++r.refused;
    r.pairs = pairs_;
    r.full = full_;
    r.stale = stale_;
    r.dead = dead_;
    r.hits = hits_;
    r.leaked = rig_.map.iova().space().used_pages();
    r.lost = rig_.map.lost_ranges();
    r.tlbi = rig_.tlb.tlbi;
    r.flushes = lazy_ ? rig_.map.deferred_ranges().flushes() : 0;
    return r;
  }

 private:
  static constexpr std::uint64_t frames = 4;
  using P = typename Config::platform;

  void translate() {
    std::uint32_t state = 99;
    while (!done_) {
      state = state * 1664525U + 1013904223U;
      const std::uint64_t iova = smmu_rig<Config>::base + (std::uint64_t{state >> 8} % (1U << log2_pages)) * 4096;
      rig_.tlb.translate(iova % (threads_ * slots * 8 * 4096) + smmu_rig<Config>::base, [&](const dma::translation& t) {
        if (!t.valid) return;
        ++hits_;
        if (!lazy_ && !alive_[t.pa >> 12]) ++dead_;
      });
    }
  }
  void tick() {
    while (!done_) {
      rig_.map.on_timer(threads_, P::now_ns());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  struct slot {
    std::uint64_t iova = 0;
    std::uint64_t pages = 0;
  };
  void set_alive(std::uint64_t first, bool on) {
    for (std::uint64_t f = first; f < first + frames; ++f) alive_[f] = on;
  }
  void unmap(std::uint32_t me, slot& s, std::uint64_t first) {
    if (s.pages == 0) return;
    if (rig_.map.unmap(me, device_, s.iova, s.pages << 12) != status::ok) ++refused_;
    s.pages = 0;
    set_alive(first, false);
    ++pairs_;
  }
  void work(std::uint32_t me, std::chrono::steady_clock::time_point end, std::uint64_t rounds) {
    std::array<slot, slots> mine{};
    std::uint32_t state = me + 1;
    for (std::uint64_t i = 0; i < rounds || std::chrono::steady_clock::now() < end || hits_ == 0; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint64_t at = (state >> 8) % slots;
      const std::uint64_t first = (me * slots + at) * frames;
      slot& s = mine[at];
      if (s.pages != 0) {
        unmap(me, s, first);
        continue;
      }
      const std::uint64_t pages = 1 + (state >> 20) % frames;
      set_alive(first, true);
      const auto iova = rig_.map.map(me, device_, first << 12, pages << 12);
      if (!iova.ok()) {
        ++full_;
        continue;
      }
      if (rig_.tlb.stale(*iova, first << 12, pages << 12)) ++stale_;
      s = {*iova, pages};
    }
    for (std::uint64_t at = 0; at < slots; ++at) unmap(me, mine[at], (me * slots + at) * frames);
  }

  const std::uint32_t threads_;
  const bool lazy_;
  const dma::device device_{true, {dma::huge_pages::never, false}};
  smmu_rig<Config> rig_;
  std::vector<std::atomic<bool>> alive_;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> pairs_{0}, refused_{0}, full_{0}, stale_{0}, dead_{0}, hits_{0};
};

}  // namespace cmdq::test

// SPDX-License-Identifier: BSL-1.0
// What the DMA tests share: memory for arenas, a platform whose clock the test sets and which counts writes by site,
// and an IOTLB of the simplest kind behind a lock.
#pragma once

#include <cmdq/dma/mapper.hpp>
#include <cmdq/platform/std_atomic.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace cmdq::test {

/// Arena memory that starts as rubbish, so that nothing relies on zeroes.
class memory {
 public:
  explicit memory(std::size_t bytes) : bytes_(bytes, std::byte{0xa5}) {}
  dma::arena arena() { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<std::byte> bytes_;
};

/// std_atomic with a clock that stands still until the test moves it, counting the writes of every site.
struct counted : platform::std_atomic {
  inline static std::atomic<std::uint64_t> clock{1};
  inline static std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(site::count)> writes{};
  static std::uint64_t now_ns() noexcept { return clock.load(); }
  static std::uint64_t written(site s) noexcept { return writes[static_cast<std::size_t>(s)].load(); }
  static void reset() noexcept {
    clock = 1;
    for (auto& w : writes) w = 0;
  }

  template <class T>
  class atomic : public platform::std_atomic::atomic<T> {
    using base = platform::std_atomic::atomic<T>;
    template <class S>
    static void note(S) noexcept {
      writes[static_cast<std::size_t>(S::id)].fetch_add(1, std::memory_order_relaxed);
    }

   public:
    using base::base;
    template <class S>
    void store(T v, S s) noexcept {
      note(s);
      base::store(v, s);
    }
    template <class S>
    T exchange(T v, S s) noexcept {
      note(s);
      return base::exchange(v, s);
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S s) noexcept {
      note(s);
      return base::compare_exchange(expected, v, s);
    }
    template <class S>
    T fetch_add(T v, S s) noexcept {
      note(s);
      return base::fetch_add(v, s);
    }
  };
};

/// Memory behind the IOMMU, as the CPU sees it.
class physical_memory {
 public:
  physical_memory(std::uint64_t pa, std::size_t bytes) : pa_(pa), bytes_(bytes) {}
  unsigned char& at(std::uint64_t pa) { return bytes_.at(pa - pa_); }
  dma::memory_view view() {
    return {this, [](void* self, std::uint64_t pa) { return &static_cast<physical_memory*>(self)->at(pa); }};
  }
  /// Pages at its front for the mapper.
  dma::pool_memory pool(std::uint32_t pages) { return {bytes_.data(), pa_, pages}; }
  [[nodiscard]] std::uint64_t pa() const { return pa_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::uint64_t pa_;
  std::vector<unsigned char> bytes_;
};

/// std_atomic on which everything that waits runs `idle`; who waits too often waits for itself: that is the end.
struct waiting : platform::std_atomic {
  inline static std::function<void()> idle;
  inline static unsigned waits = 0;
  static constexpr unsigned most_waits = 100'000;
  static void pause(const void*, unsigned) {
    if (++waits > most_waits) {
      std::fprintf(stderr, "somebody waits for itself\n");
      std::abort();
    }
    if (idle) idle();
  }
  static void yield() noexcept {}
  static std::uint64_t now_ns() noexcept { return std::uint64_t{waits} * 100; }
};

/// The invalidator and the device's translations in one: a cache that forgets only what it is told to forget. A walk
/// and its entry are one step under the lock, so whatever a walk finds is seen by an invalidation that comes later.
template <class P>
class simple_iotlb {
 public:
  status invalidate(std::uint32_t, const dma::page_run* runs, std::uint32_t count) {
    if (before) before();
    const std::scoped_lock guard(mutex_);
    if (failure != status::ok) return failure;
    ++range_calls;
    for (std::uint32_t i = 0; i < count; ++i) {
      last_runs.push_back(runs[i]);
      auto e = cache_.lower_bound(runs[i].iova);
      while (e != cache_.end() && e->first < runs[i].iova + runs[i].bytes) e = cache_.erase(e);
    }
    return status::ok;
  }
  status invalidate_all(std::uint32_t) {
    if (before_all) before_all();
    const std::scoped_lock guard(mutex_);
    if (failure != status::ok) return failure;
    ++all_calls;
    cache_.clear();
    return status::ok;
  }

  /// What the device reaches at `iova`; `look` sees the answer while no invalidation can run.
  template <class Look>
  void translate(std::uint64_t iova, const Look& look) {
    const std::scoped_lock guard(mutex_);
    const dma::translation t = cached(iova);
    look(t.valid ? t : fill(iova));
  }
  /// True when some cached translation of [iova, iova + bytes) leads elsewhere than to `pa`.
  bool stale(std::uint64_t iova, std::uint64_t pa, std::uint64_t bytes) {
    const std::scoped_lock guard(mutex_);
    for (std::uint64_t at = 0; at < bytes; at += 4096) {
      const dma::translation t = cached(iova + at);
      if (t.valid && t.pa != pa + at) return true;
    }
    return false;
  }
  bool holds(std::uint64_t iova) {
    const std::scoped_lock guard(mutex_);
    return cached(iova).valid;
  }

  const dma::page_table<P>* table = nullptr;
  std::function<void()> before;      ///< runs when an invalidation of ranges is asked for and not yet done
  std::function<void()> before_all;  ///< the same for one of everything
  status failure = status::ok;
  std::uint64_t range_calls = 0;
  std::uint64_t all_calls = 0;
  std::vector<dma::page_run> last_runs;

 private:
  struct line {
    std::uint64_t pa;
    unsigned log2;
  };
  dma::translation cached(std::uint64_t iova) const {
    auto e = cache_.upper_bound(iova);
    if (e == cache_.begin()) return {};
    --e;
    const std::uint64_t offset = iova - e->first;
    if (offset >> e->second.log2 != 0) return {};
    return {true, e->second.pa + offset, e->second.log2};
  }
  dma::translation fill(std::uint64_t iova) {
    const dma::translation t = table->walk(iova);
    const std::uint64_t low = (std::uint64_t{1} << t.page_log2) - 1;
    if (t.valid) cache_[iova & ~low] = {t.pa & ~low, t.page_log2};
    return t;
  }

  std::mutex mutex_;
  std::map<std::uint64_t, line> cache_;
};

}  // namespace cmdq::test

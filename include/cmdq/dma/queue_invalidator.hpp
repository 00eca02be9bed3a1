// SPDX-License-Identifier: BSL-1.0
// Invalidations through the command queue: ranges become TLBI commands by the range rules, one CMD_SYNC covers them.
#pragma once

#include <cmdq/dma/arena.hpp>
#include <cmdq/dma/invalidator.hpp>
#include <cmdq/dma/page_policy.hpp>
#include <cmdq/dma/spin_lock.hpp>
#include <cmdq/queue/ticket.hpp>
#include <cmdq/smmuv3/range.hpp>

namespace cmdq::dma {

/// The address space whose translations are dropped (stage 1, non-global mappings, 4 KiB granule).
struct address_space {
  uint16_t vmid = 0;
  uint16_t asid = 0;
  bool ril = false;  ///< the device has IDR3.RIL
};

/// The commands for one run of pages. A 64 KiB page is 16 level-3 entries; only 2 MiB pages are of another level.
constexpr result<smmuv3::range_commands> commands_for(const page_run& run, const address_space& space) noexcept {
  smmuv3::invalidation what;
  what.start = run.iova;
  what.end = run.iova + run.bytes;
  what.page_sizes = uint64_t{1} << log2_4k | uint64_t{1} << log2_2m;
  what.leaf_size = uint64_t{1} << (run.page_log2 == log2_2m ? log2_2m : log2_4k);
  what.ril = space.ril;
  what.vmid = space.vmid;
  what.asid = space.asid;
  return smmuv3::range_commands::make(what);
}

/// One producer of the queue per CPU number, each behind a lock, so that threads may share a number.
template <platform_type P, class Queue>
class queue_invalidator {
 public:
  queue_invalidator() noexcept = default;
  queue_invalidator(const queue_invalidator&) = delete;
  queue_invalidator& operator=(const queue_invalidator&) = delete;
  ~queue_invalidator() {
    for (uint32_t i = 0; i < cpus_; ++i) slots_[i].producer = {};
  }

  /// Attaches `cpus` producers; once. Errors: out_of_range (cpus = 0), no_space (arena), too_many_producers.
  status init(arena& memory, Queue& queue, uint32_t cpus, const address_space& space) noexcept {
    if (cpus == 0) return status::out_of_range;
    slots_ = memory.take<slot>(cpus);
    if (slots_ == nullptr) return status::no_space;
    space_ = space;
    for (cpus_ = 0; cpus_ < cpus; ++cpus_) {
      if (const status s = queue.attach(slots_[cpus_].producer); s != status::ok) return s;
    }
    return status::ok;
  }

  /// TLBIs for all runs and a wait for the one CMD_SYNC behind them. Errors: those of producer::issue().
  status invalidate(uint32_t cpu, const page_run* runs, uint32_t count) noexcept {
    slot& s = slots_[cpu % cpus_];
    const holding guard(s.lock);
    command list[capacity];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
      result<smmuv3::range_commands> made = commands_for(runs[i], space_);
      if (!made) return made.code();
      smmuv3::range_commands rest = *made;
      while (!rest.done()) {
        n += rest.fill(list + n, capacity - n);
        if (n < capacity) break;
        if (const outcome o = s.producer.insert(list, n); !o.ok()) return o.code;  // covered by the sync below
        n = 0;
      }
    }
    return s.producer.issue(list, n).code;
  }

  /// TLBI_NH_ASID and CMD_SYNC. Errors: those of producer::issue().
  status invalidate_all(uint32_t cpu) noexcept {
    slot& s = slots_[cpu % cpus_];
    const holding guard(s.lock);
    const command all = *encode(smmuv3::tlbi_nh_asid{.vmid = space_.vmid, .asid = space_.asid});
    return s.producer.issue(&all, 1).code;
  }

 private:
  static constexpr uint32_t capacity = 32;
  struct alignas(128) slot {
    spin_lock<P> lock;
    typename Queue::producer producer;
  };
  slot* slots_ = nullptr;
  uint32_t cpus_ = 0;
  address_space space_;
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
// What unmaps collect for one invalidation: runs of pages, and the blocks that are free once it is done.
#pragma once

#include <stdint.h>

namespace cmdq::dma {

/// Consecutive pages, all of them leaf entries.
struct page_run {
  static constexpr unsigned mixed = 0;
  uint64_t iova;
  uint64_t bytes;
  unsigned page_log2;  ///< of each of them; mixed: of several sizes
  friend constexpr bool operator==(const page_run&, const page_run&) = default;
};

/// Page runs and IOVA blocks that one invalidation will cover. Adjacent runs of one page size become one. One that is
/// not empty at its end is synced then, on the CPU number of its last unmap; an error of that is told by
/// mapper::lost_ranges() only. Not for concurrent use.
class gather {
 public:
  static constexpr uint32_t max_runs = 32;
  static constexpr uint32_t max_blocks = 32;
  static constexpr uint32_t no_slot = ~0U;
  struct block {
    uint64_t iova;
    uint64_t bytes;
    uint32_t bounced;  ///< first of the chain of bounce pages, no_slot: none
  };
  using deliver = void (*)(void* mapper, uint32_t cpu, gather& what) noexcept;

  gather() noexcept = default;
  ~gather() {
    if (!empty() && deliver_ != nullptr) deliver_(mapper_, cpu_, *this);
  }
  gather(const gather&) = delete;
  gather& operator=(const gather&) = delete;

  [[nodiscard]] bool empty() const noexcept { return runs_ == 0 && blocks_ == 0; }
  [[nodiscard]] const page_run* runs() const noexcept { return run_; }
  [[nodiscard]] uint32_t run_count() const noexcept { return runs_; }
  [[nodiscard]] const block* blocks() const noexcept { return block_; }
  [[nodiscard]] uint32_t block_count() const noexcept { return blocks_; }

  // For the mapper.

  /// Where an unsynced rest goes. Called before anything is added.
  void bind(void* mapper, uint32_t cpu, deliver how) noexcept {
    mapper_ = mapper;
    cpu_ = cpu;
    deliver_ = how;
  }
  [[nodiscard]] bool belongs_to(const void* mapper) const noexcept { return empty() || mapper_ == mapper; }
  /// False when the unmap of one more buffer might not fit: sync first.
  [[nodiscard]] bool has_room() const noexcept { return runs_ + 3 <= max_runs && blocks_ < max_blocks; }
  /// Pages of a block come in order. A block of more runs than fit (a long scatter list) ends in a mixed one.
  void add_page(uint64_t iova, unsigned page_log2) noexcept {
    const uint64_t size = uint64_t{1} << page_log2;
    if (runs_ != 0) {
      page_run& last = run_[runs_ - 1];
      const bool next = last.iova + last.bytes == iova;
      if (next && (last.page_log2 == page_log2 || runs_ == max_runs)) {
        if (last.page_log2 != page_log2) last.page_log2 = page_run::mixed;
        last.bytes += size;
        return;
      }
    }
    run_[runs_++] = {iova, size, page_log2};
  }
  void add_block(uint64_t iova, uint64_t bytes, uint32_t bounced) noexcept {
    block_[blocks_++] = {iova, bytes, bounced};
  }
  void clear() noexcept { runs_ = blocks_ = 0; }

 private:
  page_run run_[max_runs];
  block block_[max_blocks];
  uint32_t runs_ = 0;
  uint32_t blocks_ = 0;
  uint32_t cpu_ = 0;
  void* mapper_ = nullptr;
  deliver deliver_ = nullptr;
};

}  // namespace cmdq::dma

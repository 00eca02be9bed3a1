// SPDX-License-Identifier: BSL-1.0
// What the mapper asks of whoever invalidates translations: the command queue, or a stand-in in a test.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq::dma {

/// Consecutive pages of one size, all of them leaf entries.
struct page_run {
  uint64_t iova = 0;
  uint64_t bytes = 0;
  unsigned page_log2 = 0;
  friend constexpr bool operator==(const page_run&, const page_run&) = default;
};

/// Both calls return after the device has done it (CMD_SYNC completed), or with the reason why that is not known.
template <class I>
concept invalidator = requires(I& i, uint32_t cpu, const page_run* runs, uint32_t count) {
  { i.invalidate(cpu, runs, count) } -> detail::same_as<status>;
  { i.invalidate_all(cpu) } -> detail::same_as<status>;
};

/// Page runs and IOVA blocks that one invalidation will cover. Adjacent runs of one page size become one.
class gather {
 public:
  static constexpr uint32_t max_runs = 32;
  static constexpr uint32_t max_blocks = 32;
  struct block {
    uint64_t iova;
    uint64_t bytes;
  };

  /// False when the unmap of one more buffer might not fit: sync first.
  [[nodiscard]] bool has_room() const noexcept { return runs_ + 3 <= max_runs && blocks_ < max_blocks; }
  [[nodiscard]] bool empty() const noexcept { return runs_ == 0 && blocks_ == 0; }
  void add_page(uint64_t iova, unsigned page_log2) noexcept {
    const uint64_t size = uint64_t{1} << page_log2;
    if (runs_ != 0) {
      page_run& last = run_[runs_ - 1];
      if (last.page_log2 == page_log2 && last.iova + last.bytes == iova) {
        last.bytes += size;
        return;
      }
    }
    run_[runs_++] = {iova, size, page_log2};
  }
  void add_block(uint64_t iova, uint64_t bytes) noexcept { block_[blocks_++] = {iova, bytes}; }
  void clear() noexcept { runs_ = blocks_ = 0; }

  [[nodiscard]] const page_run* runs() const noexcept { return run_; }
  [[nodiscard]] uint32_t run_count() const noexcept { return runs_; }
  [[nodiscard]] const block* blocks() const noexcept { return block_; }
  [[nodiscard]] uint32_t block_count() const noexcept { return blocks_; }

 private:
  page_run run_[max_runs];
  block block_[max_blocks];
  uint32_t runs_ = 0;
  uint32_t blocks_ = 0;
};

}  // namespace cmdq::dma

// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/options.hpp>

namespace cmdq {

/// Memory for a ring of 2^Log2 entries, options.producers up to `Producers`, options.groups up to `Groups` and, where
/// the strategy is allocation::delegated, options.batch_limit up to `Batch` (0: no mailboxes), as one object: static,
/// on a stack, or wherever the user allocates. The entries are aligned to the ring's size, as the device demands of its
/// address.
template <class P, unsigned Log2, uint32_t Producers = 64, uint32_t Groups = most_automatic_groups, uint32_t Batch = 64,
          class F = default_family>
class fixed_memory {
 public:
  static_assert(Log2 >= F::min_log2_size && Log2 <= F::max_log2_size,
                "log2 of the ring's entries must be within the family's limits");

  /// `device_address`: where the device sees the first entry. The default fits devices that use the same addresses.
  /// `done_address`: where it sees the first of the words for completion::status_word.
  [[nodiscard]] ring_memory<P, F> at_device_address(uint64_t device_address, uint64_t done_address = 0) noexcept {
    return {entries_,
            device_address,
            valid_,
            marks_,
            range_ends_,
            cells_,
            groups_,
            Log2,
            Producers,
            Groups,
            Batch == 0 ? nullptr : mailboxes_,
            Batch,
            done_words_,
            done_address};
  }
  [[nodiscard]] ring_memory<P, F> memory() noexcept {
    return at_device_address(reinterpret_cast<uint64_t>(entries_), reinterpret_cast<uint64_t>(done_words_));
  }

 private:
  static constexpr uint32_t n = 1U << Log2;
  alignas(n * sizeof(typename F::command)) ring_entry_of<P, F> entries_[n];
  alignas(64) typename P::template atomic<uint32_t> valid_[valid_words({Log2})];
  alignas(64) typename P::template atomic<uint64_t> marks_[n];
  alignas(64) typename P::template atomic<uint32_t> range_ends_[n];
  producer_cell<P> cells_[Producers];
  gather_group<P> groups_[Groups];
  mailbox_line<P> mailboxes_[Batch == 0 ? 1 : Producers * lines_per_mailbox(Batch, words_of<typename F::command>)];
  alignas(64) typename P::template atomic<uint64_t> done_words_[n];
};

}  // namespace cmdq

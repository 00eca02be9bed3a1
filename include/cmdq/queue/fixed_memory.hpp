// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/options.hpp>

namespace cmdq {

/// Memory for a ring of 2^Log2 entries, options.producers up to `Producers` and options.groups up to `Groups`, as one
/// object: static, on a stack, or wherever the user allocates. The entries are aligned to the ring's size, as the
/// device demands of its address.
template <class P, unsigned Log2, uint32_t Producers = 64, uint32_t Groups = 1>
class fixed_memory {
 public:
  static_assert(Log2 >= min_log2_size && Log2 <= max_log2_size, "log2 of the ring's entries must be 2..19");

  /// `device_address`: where the device sees the first entry. The default fits devices that use the same addresses.
  [[nodiscard]] ring_memory<P> at_device_address(uint64_t device_address) noexcept {
    return {entries_, device_address, valid_, marks_, range_ends_, cells_, groups_, Log2, Producers, Groups};
  }
  [[nodiscard]] ring_memory<P> memory() noexcept { return at_device_address(reinterpret_cast<uint64_t>(entries_)); }

 private:
  static constexpr uint32_t n = 1U << Log2;
  alignas(n * sizeof(command)) ring_entry<P> entries_[n];
  alignas(64) typename P::template atomic<uint32_t> valid_[valid_words({Log2})];
  alignas(64) typename P::template atomic<uint64_t> marks_[n];
  alignas(64) typename P::template atomic<uint32_t> range_ends_[n];
  producer_cell<P> cells_[Producers];
  gather_group<P> groups_[Groups];
};

}  // namespace cmdq

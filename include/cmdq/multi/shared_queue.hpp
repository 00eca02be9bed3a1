// SPDX-License-Identifier: BSL-1.0
// A queue that producers of several processes share: device object, queue and all its memory in one block, which each
// process maps at an address of its own.
#pragma once

#include <cmdq/multi/block.hpp>

namespace cmdq::multi {

/// One process's view of a block; a plain handle, copied at will, which owns nothing. Queue and device in the block
/// hold no addresses; a producer does, so it stays in the process that attached it (a process that forks has none
/// attached). The platform tells processes apart, so that cells of processes that are gone come back; waits must need
/// nothing that only one process has (wait::park does).
template <ring_device Device, queue_config Config>
class shared_queue {
 public:
  using P = typename Config::platform;
  using queue_type = command_queue<Device, Config>;
  using producer = typename queue_type::producer;
  static_assert(process_platform<P>, "cells of processes that are gone come back only where the platform knows them");
  static_assert(
      !requires { Config::wait::one_process; }, "this wait policy's sleepers are of one process");

  constexpr shared_queue() noexcept = default;

  /// What a block for these options takes. `device_base`: where the device sees its first byte. Errors: those of
  /// make_plan() in the options' numbers, misaligned (device_base, 64).
  static constexpr result<block_layout> layout(const options& asked, uint64_t device_base) noexcept {
    const options o = with_groups<Config>(asked);
    if (const refusal r = cmdq::detail::check_numbers(o); r.code != status::ok) return r;
    if (device_base % 64 != 0) return refusal{status::misaligned, "device_base", device_base, 64};
    return place<Device, Config>(o, device_base);
  }

  /// Makes a queue and its device (from `args`) in `size` bytes at `memory`, aligned to 64. Before any other process
  /// opens it. Errors: those of layout() and make_plan(); invalid_argument (no memory), misaligned, no_space (size, and
  /// what it takes). Cost: O(N) stores.
  template <class... Args>
  static result<shared_queue> create(void* memory, uint64_t size, const options& asked, uint64_t device_base,
                                     Args&&... args) noexcept {
    const options o = with_groups<Config>(asked);
    if (const refusal r = check_memory(memory); r.code != status::ok) return r;
    const auto where = layout(o, device_base);
    if (!where) return where.why();
    if (size < where->bytes) return refusal{status::no_space, "size", size, where->bytes};
    const ring_memory<P> m = arrays(memory, *where, o, device_base);
    const auto p = make_plan<Config>(o, m);
    if (!p) return p.why();
    auto* const head = new (in_block{memory}) block_header<P>;
    head->magic.store(0, at<site::setup>);
    construct(m.cells, o.producers);
    construct(m.groups, o.groups);
    construct(m.valid, valid_words({o.log2_size}));
    construct(m.marks, 1U << o.log2_size);
    construct(m.range_ends, 1U << o.log2_size);
    if (Config::allocation::delegates) construct(m.mailboxes, o.producers * lines_per_mailbox(o.batch_limit));
    construct(m.entries, 1U << o.log2_size);
    auto* const device = new (in_block{at_offset<void>(memory, where->device)}) Device(static_cast<Args&&>(args)...);
    new (in_block{at_offset<void>(memory, where->queue)}) queue_type(*p, *device);
    head->describe(fingerprint_of<Device, Config>(), o, *where, device_base);
    head->magic.store(block_magic, at<site::setup>);
    return shared_queue(memory, where->queue, where->device);
  }

  /// Opens what another process has created. Errors, before anything in it is used: invalid_argument (no memory; magic;
  /// fingerprint: another device, configuration or compiler; checksum: the header was written to), misaligned,
  /// out_of_range (version; size: of the mapping, and what the block takes).
  static result<shared_queue> open(void* memory, uint64_t size) noexcept {
    if (const refusal r = check_memory(memory); r.code != status::ok) return r;
    if (size < sizeof(block_header<P>)) return refusal{status::out_of_range, "size", size, sizeof(block_header<P>)};
    const auto& head = *static_cast<const block_header<P>*>(memory);
    if (const refusal r = head.check(fingerprint_of<Device, Config>(), size); r.code != status::ok) return r;
    const auto where = layout(head.opts, head.device_base);
    if (!where) return where.why();
    if (!(*where == head.where)) return refusal{status::invalid_argument, "layout", head.where.bytes, where->bytes};
    return shared_queue(memory, where->queue, where->device);
  }

  /// Precondition of all: created or opened.
  [[nodiscard]] queue_type& queue() const noexcept { return *queue_; }
  [[nodiscard]] Device& device() const noexcept { return *device_; }
  /// The ring, as the device reads it.
  [[nodiscard]] const ring_entry<P>* entries() const noexcept {
    return at_offset<const ring_entry<P>>(head_, head_->where.entries);
  }
  [[nodiscard]] uint64_t bytes() const noexcept { return head_->where.bytes; }

 private:
  shared_queue(void* memory, uint64_t queue, uint64_t device) noexcept
      : head_(static_cast<block_header<P>*>(memory)),
        queue_(at_offset<queue_type>(memory, queue)),
        device_(at_offset<Device>(memory, device)) {}

  template <class T>
  static T* at_offset(const void* memory, uint64_t offset) noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(memory) + offset);
  }
  template <class T>
  static void construct(T* first, uint32_t n) noexcept {
    for (uint32_t i = 0; i < n; ++i) new (in_block{first + i}) T();
  }
  static refusal check_memory(const void* memory) noexcept {
    if (memory == nullptr) return {status::invalid_argument, "memory", 0, 0};
    const auto address = reinterpret_cast<uintptr_t>(memory);
    if (address % 64 != 0) return {status::misaligned, "memory", address, 64};
    return {};
  }
  static ring_memory<P> arrays(void* memory, const block_layout& where, const options& o, uint64_t base) noexcept {
    ring_memory<P> m;
    m.entries = at_offset<ring_entry<P>>(memory, where.entries);
    m.device_address = base + where.entries;
    m.valid = at_offset<typename P::template atomic<uint32_t>>(memory, where.valid);
    m.marks = at_offset<typename P::template atomic<uint64_t>>(memory, where.marks);
    m.range_ends = at_offset<typename P::template atomic<uint32_t>>(memory, where.range_ends);
    m.cells = at_offset<producer_cell<P>>(memory, where.cells);
    m.groups = at_offset<gather_group<P>>(memory, where.groups);
    m.mailboxes = at_offset<mailbox_line<P>>(memory, where.mailboxes);
    m.room_batch = o.batch_limit;
    m.room_log2 = o.log2_size;
    m.room_producers = o.producers;
    m.room_groups = o.groups;
    return m;
  }

  const block_header<P>* head_ = nullptr;
  queue_type* queue_ = nullptr;
  Device* device_ = nullptr;
};

}  // namespace cmdq::multi

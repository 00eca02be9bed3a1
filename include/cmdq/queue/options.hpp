// SPDX-License-Identifier: BSL-1.0
// What a user sets when a queue is made, the memory it lives in, and the check of both.
#pragma once

#include <cmdq/core/device_limits.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/core/valid_bits.hpp>
#include <cmdq/platform/ring_entry.hpp>
#include <cmdq/queue/gather_group.hpp>
#include <cmdq/queue/mailbox.hpp>
#include <cmdq/queue/producer_cell.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq {

inline constexpr uint32_t max_batch = 1024;
inline constexpr uint32_t max_producers = 4096;

/// Options with their defaults. All counts are entries or threads, times are nanoseconds.
struct options {
  uint32_t log2_size = 10;                  ///< ring of 2^log2_size entries; 2..19, at most IDR1.CMDQS
  uint32_t batch_limit = 64;                ///< most commands in one contiguous list, without its CMD_SYNC
  uint32_t producers = 2;                   ///< most producers attached at once (CPUs or threads)
  uint64_t deadline_ns = 1'000'000'000;     ///< time budget of one call; no_deadline for none
  sync_signal signal = sync_signal::event;  ///< CS of a CMD_SYNC polled by CONS; `none` where SEV is unusable
  uint32_t fetch_retries = 8;               ///< acknowledgements of CERROR_ABT / CERROR_ATC_INV at one position
  /// allocation::combining: groups of CPUs that gather on their own first; delegated: words that say who has a list.
  uint32_t groups = 1;
  uint32_t cpus_per_group = 8;        ///< CPU i (platform's index()) is in group i / cpus_per_group % groups
  position first = 0;                 ///< PROD and CONS of the device at the start, free-running
  bool sync_every_batch = false;      ///< quirk: each list ends in a CMD_SYNC and holds one class of command
  bool repeat_invalidations = false;  ///< quirk: TLBI / CFGI lists are issued twice, the second after the first
  device_limits device{};             ///< what the device can do: smmuv3::fit() asks it

  /// Does a single command need more than to be put at the end of the ring?
  [[nodiscard]] constexpr bool special() const noexcept { return cuts_specially() || groups != 1 || restricted(); }
  /// Do the quirks ask for more than a cut at the batch limit?
  [[nodiscard]] constexpr bool cuts_specially() const noexcept { return sync_every_batch || repeat_invalidations; }
  /// Must each command pass permits(device, command)? Made of several compares: ask once per queue, not per call.
  [[nodiscard]] constexpr bool restricted() const noexcept { return device.restricts_commands(); }
};

/// Memory of a queue. All of it is the user's and must outlive the queue; the queue initialises what it needs.
template <class P>
struct ring_memory {
  ring_entry<P>* entries = nullptr;                             ///< 2^log2_size entries, read by the device
  uint64_t device_address = 0;                                  ///< of entries[0] as the device sees it
  typename P::template atomic<uint32_t>* valid = nullptr;       ///< valid_words(geometry); not allocation::delegated
  typename P::template atomic<uint64_t>* marks = nullptr;       ///< one per entry: which command failed
  typename P::template atomic<uint32_t>* range_ends = nullptr;  ///< one per entry; allocation::combining and delegated
  producer_cell<P>* cells = nullptr;                            ///< options.producers
  gather_group<P>* groups = nullptr;                            ///< options.groups, where that is more than one
  uint32_t room_log2 = 0;       ///< entries there is room for, as log2; 0: not stated, the user answers for it
  uint32_t room_producers = 0;  ///< cells there is room for; 0: not stated
  uint32_t room_groups = 0;     ///< groups there is room for; 0: not stated
  /// Only allocation::delegated uses it: lines_per_mailbox(options.batch_limit) for each of options.producers.
  mailbox_line<P>* mailboxes = nullptr;
  uint32_t room_batch = 0;  ///< batch limit that `mailboxes` has room for; 0: not stated
};

/// Entries that one list may take at most, with its CMD_SYNC.
constexpr uint32_t longest_list(const options& o) noexcept {
  return o.sync_every_batch ? o.batch_limit : o.batch_limit + 1;
}

/// Do insert() and submit() return without waiting for the device, unless the ring is full, and does each get its turn?
/// N >= 3 C T (see allocation::claims). In smaller rings they wait for their list instead: nobody starves there either.
constexpr bool is_asynchronous(const options& o) noexcept {
  return uint64_t{3} * o.producers * longest_list(o) <= uint64_t{1} << o.log2_size;
}

namespace detail {
constexpr refusal check_numbers(const options& o) noexcept {
  if (o.log2_size < min_log2_size) return {status::out_of_range, "log2_size", o.log2_size, min_log2_size};
  if (o.log2_size > max_log2_size) return {status::out_of_range, "log2_size", o.log2_size, max_log2_size};
  if (o.batch_limit < 1) return {status::out_of_range, "batch_limit", o.batch_limit, 1};
  if (o.sync_every_batch && o.batch_limit < 2) return {status::out_of_range, "batch_limit", o.batch_limit, 2};
  if (o.batch_limit > max_batch) return {status::out_of_range, "batch_limit", o.batch_limit, max_batch};
  if (o.producers < 1) return {status::out_of_range, "producers", o.producers, 1};
  if (o.producers > max_producers) return {status::out_of_range, "producers", o.producers, max_producers};
  if (o.groups < 1) return {status::out_of_range, "groups", o.groups, 1};
  if (o.groups > max_groups) return {status::out_of_range, "groups", o.groups, max_groups};
  if (o.cpus_per_group < 1) return {status::out_of_range, "cpus_per_group", o.cpus_per_group, 1};
  if (o.signal == sync_signal::msi) return {status::invalid_argument, "signal", 1, 2};
  return {};
}

/// Groups: only where the strategy gathers in them, the platform tells CPUs apart, and there is memory for them.
template <class Config>
constexpr refusal check_groups(const options& o, const ring_memory<typename Config::platform>& m) noexcept {
  if (o.groups == 1 || Config::allocation::delegates) return {};
  if (!Config::allocation::gathers_in_groups || !placed_platform<typename Config::platform>)
    return {status::out_of_range, "groups", o.groups, 1};
  if (m.groups == nullptr) return {status::invalid_argument, "groups", 0, 0};
  if (m.room_groups != 0 && o.groups > m.room_groups) return {status::out_of_range, "groups", o.groups, m.room_groups};
  return {};
}
/// What the device cannot do. `bytes`: size of the ring, to which its address is aligned, so that its end cannot pass a
/// power of two that its start keeps.
template <class Config>
constexpr refusal check_device(const options& o, uint64_t address, uint64_t bytes) noexcept {
  const device_limits& d = o.device;
  constexpr uint8_t most = device_limits::most_output_bits;
  if (d.output_bits > most) return {status::out_of_range, "device.output_bits", d.output_bits, most};
  if (d.asid_bits > 16) return {status::out_of_range, "device.asid_bits", d.asid_bits, 16};
  if (d.vmid_bits > 16) return {status::out_of_range, "device.vmid_bits", d.vmid_bits, 16};
  if (!d.opcodes.has(opcode_sync)) return {status::invalid_argument, "device.opcodes", opcode_sync, 0};
  if (o.signal == sync_signal::event && !d.event)
    return {status::invalid_argument, "signal", static_cast<uint64_t>(o.signal), 0};
  const uint64_t reach = uint64_t{1} << d.output_bits;
  if (address >= reach || bytes > reach - address)
    return {status::out_of_range, "device_address", address, reach < bytes ? 0 : reach - bytes};
  if (!Config::completion::needs_msi) return {};
  if (!d.msi) return {status::invalid_argument, "device.msi", 0, 1};
  if (!d.coherent) return {status::invalid_argument, "device.coherent", 0, 1};
  if (!d.can_poll_msi(address)) return {status::out_of_range, "device_address", address, bytes};
  return {};
}

template <class Config>
constexpr refusal check_mailboxes(const options& o, const ring_memory<typename Config::platform>& m) noexcept {
  if (!Config::allocation::delegates) return {};
  if (m.mailboxes == nullptr) return {status::invalid_argument, "mailboxes", 0, 0};
  if (m.room_batch != 0 && o.batch_limit > m.room_batch)
    return {status::out_of_range, "batch_limit", o.batch_limit, m.room_batch};
  return {};
}
}  // namespace detail

/// Options and memory that were found to fit together: what a queue is made from.
template <class P>
struct plan {
  options opts;
  ring_memory<P> memory;
  /// insert() and submit() return without waiting for the device, unless the ring is full. With cmpxchg_loop and
  /// delegated always; with the others where N >= 3 C T: see is_asynchronous().
  bool asynchronous = false;
};

/// Checks options and memory for an allocation strategy, a way of completion and a device. Errors: out_of_range (the
/// ring's address: limit is the highest it may have, or with MSIs the lowest), invalid_argument (null pointer; an event
/// or MSIs that the device does not have), misaligned (SMMUv3 CMDQ_BASE: the ring is aligned to its size),
/// ring_too_small (value: entries that may be outstanding, limit: entries of the ring). Cost: none worth counting; no
/// device access.
template <class Config>
constexpr result<plan<typename Config::platform>> make_plan(const options& o,
                                                            const ring_memory<typename Config::platform>& m) noexcept {
  const refusal bad = detail::check_numbers(o);
  if (bad.code != status::ok) return bad;
  const uint64_t entries = uint64_t{1} << o.log2_size;
  if (m.entries == nullptr) return refusal{status::invalid_argument, "entries", 0, 0};
  if (!Config::allocation::delegates && m.valid == nullptr) return refusal{status::invalid_argument, "valid", 0, 0};
  if (m.marks == nullptr) return refusal{status::invalid_argument, "marks", 0, 0};
  if (m.room_log2 != 0 && o.log2_size > m.room_log2)
    return refusal{status::out_of_range, "log2_size", o.log2_size, m.room_log2};
  if (m.room_producers != 0 && o.producers > m.room_producers)
    return refusal{status::out_of_range, "producers", o.producers, m.room_producers};
  if (m.cells == nullptr) return refusal{status::invalid_argument, "cells", 0, 0};
  if (Config::allocation::needs_range_ends && m.range_ends == nullptr)
    return refusal{status::invalid_argument, "range_ends", 0, 0};
  if (const refusal r = detail::check_groups<Config>(o, m); r.code != status::ok) return r;
  if (const refusal r = detail::check_mailboxes<Config>(o, m); r.code != status::ok) return r;
  const uint64_t bytes = entries * sizeof(command);
  if (m.device_address % bytes != 0) return refusal{status::misaligned, "device_address", m.device_address, bytes};
  if (const refusal r = detail::check_device<Config>(o, m.device_address, bytes); r.code != status::ok) return r;
  const uint64_t lists = Config::allocation::claims_before_space ? o.producers : 1;
  const uint64_t outstanding = lists * longest_list(o);
  if (outstanding > entries) return refusal{status::ring_too_small, "producers x longest list", outstanding, entries};
  const bool asynchronous = !Config::allocation::claims_before_space || is_asynchronous(o);
  return plan<typename Config::platform>{o, m, asynchronous};
}

}  // namespace cmdq

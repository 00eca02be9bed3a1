// SPDX-License-Identifier: BSL-1.0
// What a user sets when a queue is made, the memory it lives in, and the check of both.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/core/valid_bits.hpp>
#include <cmdq/platform/ring_entry.hpp>
#include <cmdq/queue/default_family.hpp>
#include <cmdq/queue/gather_group.hpp>
#include <cmdq/queue/mailbox.hpp>
#include <cmdq/queue/producer_cell.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq {

inline constexpr uint32_t max_batch = 1024;
inline constexpr uint32_t max_producers = 4096;
/// options.groups: as many as do best on the platform's CPUs, as far as there is memory for them.
inline constexpr uint32_t automatic_groups = 0;
inline constexpr uint32_t most_automatic_groups = 6;

/// Options with their defaults, for a queue of the device family F. All counts are entries or threads, times are
/// nanoseconds.
template <class F>
struct options_for {
  uint32_t log2_size = 10;               ///< ring of 2^log2_size entries; the family's and the device's limits
  uint32_t batch_limit = 64;             ///< most commands in one contiguous list, without its sync command
  uint32_t producers = 2;                ///< most producers attached at once (CPUs or threads)
  uint64_t deadline_ns = 1'000'000'000;  ///< time budget of one call; no_deadline for none
  /// How a sync command that is seen by the register signals besides (SMMUv3: CS; `none` where SEV is unusable).
  typename F::signal signal = F::default_signal;
  uint32_t fetch_retries = 8;  ///< of a failed fetch, or of an answer that did not come, at one position
  /// allocation::combining: groups of CPUs that gather on their own first; delegated: words that say who has a list.
  uint32_t groups = automatic_groups;
  uint32_t cpus_per_group = 8;        ///< CPU i (platform's index()) is in group i / cpus_per_group % groups
  position first = 0;                 ///< what the device's two registers hold at the start, free-running
  bool sync_every_batch = false;      ///< quirk: each list ends in a sync command and holds one class of command
  bool repeat_invalidations = false;  ///< quirk: invalidations are issued twice, the second after the first
  typename F::limits device{};        ///< what the device can do: smmuv3::fit() asks it

  /// Does a single command need more than to be put at the end of the ring?
  [[nodiscard]] constexpr bool special() const noexcept { return cuts_specially() || groups != 1 || restricted(); }
  /// Do the quirks ask for more than a cut at the batch limit?
  [[nodiscard]] constexpr bool cuts_specially() const noexcept { return sync_every_batch || repeat_invalidations; }
  /// Must each command pass F::permits(device, command)? Made of several compares: ask once per queue, not per call.
  [[nodiscard]] constexpr bool restricted() const noexcept { return device.restricts_commands(); }
};

using options = options_for<default_family>;

/// Memory of a queue. All of it is the user's and must outlive the queue; the queue initialises what it needs.
template <class P, class F = default_family>
struct ring_memory {
  ring_entry_of<P, F>* entries = nullptr;                       ///< 2^log2_size entries, read by the device
  uint64_t device_address = 0;                                  ///< of entries[0] as the device sees it
  typename P::template atomic<uint32_t>* valid = nullptr;       ///< valid_words(geometry); not allocation::delegated
  typename P::template atomic<uint64_t>* marks = nullptr;       ///< one per entry: which command failed
  typename P::template atomic<uint32_t>* range_ends = nullptr;  ///< one per entry; allocation::combining and delegated
  producer_cell<P>* cells = nullptr;                            ///< options.producers
  gather_group<P>* groups = nullptr;                            ///< options.groups, where that is more than one
  uint32_t room_log2 = 0;       ///< entries there is room for, as log2; 0: not stated, the user answers for it
  uint32_t room_producers = 0;  ///< cells there is room for; 0: not stated
  uint32_t room_groups = 0;     ///< groups there is room for; 0: not stated, and none are chosen automatically
  /// Only allocation::delegated uses it: lines_per_mailbox(options.batch_limit) for each of options.producers.
  mailbox_line<P>* mailboxes = nullptr;
  uint32_t room_batch = 0;  ///< batch limit that `mailboxes` has room for; 0: not stated
  /// Only completion::status_word uses them: one per entry, written by the device, and where the device sees the first.
  typename P::template atomic<uint64_t>* done_words = nullptr;
  uint64_t done_address = 0;
};

/// Entries that one list may take at most, with its sync command.
template <class F>
constexpr uint32_t longest_list(const options_for<F>& o) noexcept {
  return o.sync_every_batch ? o.batch_limit : o.batch_limit + 1;
}

/// Do insert() and submit() return without waiting for the device, unless the ring is full, and does each get its turn?
/// N >= 3 C T (see allocation::claims). In smaller rings they wait for their list instead: nobody starves there either.
/// Where the family keeps an entry free, N is one less.
template <class F>
constexpr bool is_asynchronous(const options_for<F>& o) noexcept {
  return uint64_t{3} * o.producers * longest_list(o) <= (uint64_t{1} << o.log2_size) - F::positions::spare;
}

/// `o` with the groups for a queue that `cpus` CPUs share: none below 16, else six of neighbours, or four of so many
/// that the queue is shared across sockets. Within a tenth of the best on each simulated machine
/// (src/manycore/README.md, "Groups").
template <class F>
constexpr options_for<F> grouped_for(options_for<F> o, uint32_t cpus) noexcept {
  o.groups = cpus < 16 || o.producers < 16 ? 1 : cpus < 96 ? most_automatic_groups : 4;
  if (o.groups != 1) o.cpus_per_group = (cpus + o.groups - 1) / o.groups;
  return o;
}

/// `o` with its groups chosen where they are automatic. None where the strategy does not gather, the platform does not
/// count its CPUs, or there is `room` for fewer. What make_plan() does; a queue's plan has the result.
template <class Config>
constexpr options_for<typename Config::family> with_groups(options_for<typename Config::family> o,
                                                           uint32_t room = most_automatic_groups) noexcept {
  if (o.groups != automatic_groups) return o;
  if constexpr (Config::allocation::gathers_in_groups && counted_platform<typename Config::platform>) {
    if (room >= most_automatic_groups && o.producers >= 16) return grouped_for(o, Config::platform::cpus());
  }
  o.groups = 1;
  return o;
}

namespace detail {
template <class F>
constexpr refusal check_numbers(const options_for<F>& o) noexcept {
  if (o.log2_size < F::min_log2_size) return {status::out_of_range, "log2_size", o.log2_size, F::min_log2_size};
  if (o.log2_size > F::max_log2_size) return {status::out_of_range, "log2_size", o.log2_size, F::max_log2_size};
  if (o.batch_limit < 1) return {status::out_of_range, "batch_limit", o.batch_limit, 1};
  if (o.sync_every_batch && o.batch_limit < 2) return {status::out_of_range, "batch_limit", o.batch_limit, 2};
  if (o.batch_limit > max_batch) return {status::out_of_range, "batch_limit", o.batch_limit, max_batch};
  if (o.producers < 1) return {status::out_of_range, "producers", o.producers, 1};
  if (o.producers > max_producers) return {status::out_of_range, "producers", o.producers, max_producers};
  if (o.groups < 1) return {status::out_of_range, "groups", o.groups, 1};
  if (o.groups > max_groups) return {status::out_of_range, "groups", o.groups, max_groups};
  if (o.cpus_per_group < 1) return {status::out_of_range, "cpus_per_group", o.cpus_per_group, 1};
  return F::check_signal(o.signal);
}

template <class Config>
using options_of = options_for<typename Config::family>;
template <class Config>
using memory_of = ring_memory<typename Config::platform, typename Config::family>;

/// Groups: only where the strategy gathers in them, the platform tells CPUs apart, and there is memory for them.
template <class Config>
constexpr refusal check_groups(const options_of<Config>& o, const memory_of<Config>& m) noexcept {
  if (o.groups == 1 || Config::allocation::delegates) return {};
  if (!Config::allocation::gathers_in_groups || !placed_platform<typename Config::platform>)
    return {status::out_of_range, "groups", o.groups, 1};
  if (m.groups == nullptr) return {status::invalid_argument, "groups", 0, 0};
  if (m.room_groups != 0 && o.groups > m.room_groups) return {status::out_of_range, "groups", o.groups, m.room_groups};
  return {};
}

template <class Config>
constexpr refusal check_done_words(const memory_of<Config>& m) noexcept {
  if ((Config::completion::ways & completes::in_word) == 0) return {};
  if (m.done_words == nullptr) return {status::invalid_argument, "done_words", 0, 0};
  if (m.done_address % sizeof(uint64_t) != 0)
    return {status::misaligned, "done_address", m.done_address, sizeof(uint64_t)};
  return {};
}

template <class Config>
constexpr refusal check_mailboxes(const options_of<Config>& o, const memory_of<Config>& m) noexcept {
  if (!Config::allocation::delegates) return {};
  if (m.mailboxes == nullptr) return {status::invalid_argument, "mailboxes", 0, 0};
  if (m.room_batch != 0 && o.batch_limit > m.room_batch)
    return {status::out_of_range, "batch_limit", o.batch_limit, m.room_batch};
  return {};
}
}  // namespace detail

/// Options and memory that were found to fit together: what a queue is made from.
template <class P, class F = default_family>
struct plan {
  options_for<F> opts;
  ring_memory<P, F> memory;
  /// insert() and submit() return without waiting for the device, unless the ring is full. With cmpxchg_loop and
  /// delegated always; with the others where N >= 3 C T: see is_asynchronous().
  bool asynchronous = false;
};

/// Checks options and memory for an allocation strategy, a way of completion and a device. Errors: out_of_range (the
/// ring's address: limit is the highest it may have, or with MSIs the lowest), invalid_argument (null pointer; an event
/// or MSIs that the device does not have), misaligned (the ring is aligned to its size),
/// ring_too_small (value: entries that may be outstanding, limit: entries of the ring). Cost: none worth counting; no
/// device access.
template <class Config>
constexpr result<plan<typename Config::platform, typename Config::family>> make_plan(
    const options_for<typename Config::family>& asked,
    const ring_memory<typename Config::platform, typename Config::family>& m) noexcept {
  const auto o = with_groups<Config>(asked, m.groups == nullptr ? 0 : m.room_groups);
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
  const uint64_t bytes = entries * sizeof(typename Config::family::command);
  if (m.device_address % bytes != 0) return refusal{status::misaligned, "device_address", m.device_address, bytes};
  if (const refusal r = detail::check_done_words<Config>(m); r.code != status::ok) return r;
  const refusal unfit = Config::family::check_device(o.device, o.signal, Config::completion::ways, m.device_address,
                                                     bytes, m.done_address, entries * sizeof(uint64_t));
  if (unfit.code != status::ok) return unfit;
  const uint64_t lists = Config::allocation::claims_before_space ? o.producers : 1;
  const uint64_t outstanding = lists * longest_list(o);
  const uint64_t usable = entries - Config::family::positions::spare;
  if (outstanding > usable) return refusal{status::ring_too_small, "producers x longest list", outstanding, usable};
  const bool asynchronous = !Config::allocation::claims_before_space || is_asynchronous(o);
  return plan<typename Config::platform, typename Config::family>{o, m, asynchronous};
}

}  // namespace cmdq

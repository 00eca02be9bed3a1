// SPDX-License-Identifier: BSL-1.0
// One block of memory for a queue: its layout, and the header by which another process knows what it has mapped.
#pragma once

#include <cmdq/queue/command_queue.hpp>

#include <stddef.h>

namespace cmdq::multi {
/// Where an object is built. <new> would be a library's header.
struct in_block {
  void* memory;
};
}  // namespace cmdq::multi

inline void* operator new(size_t, cmdq::multi::in_block where) noexcept { return where.memory; }

namespace cmdq::multi {

/// Where everything lies in the block: bytes from its start.
struct block_layout {
  uint64_t device = 0;
  uint64_t queue = 0;
  uint64_t cells = 0;
  uint64_t groups = 0;
  uint64_t valid = 0;
  uint64_t marks = 0;
  uint64_t range_ends = 0;
  uint64_t mailboxes = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;  ///< of the whole block
  friend constexpr bool operator==(const block_layout&, const block_layout&) = default;
};

inline constexpr uint64_t block_magic = 0x6b636f6c42516d43ULL;  ///< "CmQBlock", as bytes in memory
/// Of the layout of header and block; what else must be the same in two builds is in the fingerprint.
inline constexpr uint32_t block_version = 1;

namespace detail {
inline constexpr uint64_t hash_start = 0xcbf29ce484222325ULL;
/// FNV-1a, by words.
constexpr uint64_t mix(uint64_t hash, uint64_t v) noexcept { return (hash ^ v) * 0x100000001b3ULL; }

template <class... Types>
constexpr uint64_t names(uint64_t hash) noexcept {
  for (const char* c = __PRETTY_FUNCTION__; *c != 0; ++c) hash = mix(hash, static_cast<uint64_t>(*c));
  return hash;
}
}  // namespace detail

/// What two processes must have in common: the names of device and policies, and the sizes that follow from them. Names
/// as the compiler spells them: two compilers do not share a block.
template <class Device, class Config>
constexpr uint64_t fingerprint_of() noexcept {
  using P = typename Config::platform;
  uint64_t hash = detail::names<Device, P, typename Config::allocation, typename Config::completion,
                                typename Config::reclaim, typename Config::wait>(detail::hash_start);
  const uint64_t sizes[] = {sizeof(command_queue<Device, Config>),
                            sizeof(Device),
                            alignof(Device),
                            sizeof(producer_cell<P>),
                            sizeof(gather_group<P>),
                            sizeof(mailbox_line<P>),
                            sizeof(ring_entry<P>),
                            sizeof(options),
                            sizeof(block_layout)};
  for (const uint64_t size : sizes) hash = detail::mix(hash, size);
  return hash;
}

/// At the block's start. Written once, by who creates it; `magic` last.
template <class P>
struct alignas(64) block_header {
  typename P::template atomic<uint64_t> magic;
  uint32_t version = block_version;
  uint32_t header_bytes = 0;
  uint64_t fingerprint = 0;
  uint64_t device_base = 0;  ///< where the device sees the block's first byte
  uint64_t checksum = 0;     ///< of the fields around it
  block_layout where;
  options opts;

  void describe(uint64_t print, const options& o, const block_layout& layout, uint64_t base) noexcept {
    header_bytes = sizeof(block_header);
    fingerprint = print;
    device_base = base;
    where = layout;
    opts = o;
    checksum = sum();
  }

  /// Does it describe a block that this build can use, `size` bytes of which are mapped?
  [[nodiscard]] refusal check(uint64_t print, uint64_t size) const noexcept {
    const uint64_t found = magic.load(at<site::setup>);
    if (found != block_magic) return {status::invalid_argument, "magic", found, block_magic};
    if (version != block_version) return {status::out_of_range, "version", version, block_version};
    if (header_bytes != sizeof(block_header))
      return {status::out_of_range, "header_bytes", header_bytes, sizeof(block_header)};
    if (fingerprint != print) return {status::invalid_argument, "fingerprint", fingerprint, print};
    if (const uint64_t s = sum(); s != checksum) return {status::invalid_argument, "checksum", checksum, s};
    if (size < where.bytes) return {status::out_of_range, "size", size, where.bytes};
    return {};
  }

 private:
  /// As it lies there, padding too: nobody writes to it after it was described.
  template <class T>
  static uint64_t bytes_of(const T& from, uint64_t hash) noexcept {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&from);
    for (unsigned i = 0; i < sizeof from; ++i) hash = detail::mix(hash, bytes[i]);
    return hash;
  }
  [[nodiscard]] uint64_t sum() const noexcept {
    const uint64_t hash = detail::mix(detail::mix(detail::hash_start, fingerprint), device_base);
    return bytes_of(opts, bytes_of(where, hash));
  }
};

/// The layout for options whose numbers were found good. The entries lie so that the device sees them aligned.
template <class Device, class Config>
constexpr block_layout place(const options& o, uint64_t device_base) noexcept {
  using P = typename Config::platform;
  const uint64_t entries = uint64_t{1} << o.log2_size;
  block_layout l;
  uint64_t end = sizeof(block_header<P>);
  const auto take = [&end](uint64_t bytes) {
    const uint64_t start = (end + 63) / 64 * 64;
    end = start + bytes;
    return start;
  };
  static_assert(alignof(Device) <= 64 && alignof(command_queue<Device, Config>) == 64);
  l.device = take(sizeof(Device));
  l.queue = take(sizeof(command_queue<Device, Config>));
  l.cells = take(o.producers * sizeof(producer_cell<P>));
  l.groups = take(o.groups * sizeof(gather_group<P>));
  l.valid = take(valid_words({o.log2_size}) * sizeof(typename P::template atomic<uint32_t>));
  l.marks = take(entries * sizeof(typename P::template atomic<uint64_t>));
  l.range_ends = take(entries * sizeof(typename P::template atomic<uint32_t>));
  const uint32_t lines = Config::allocation::delegates ? o.producers * lines_per_mailbox(o.batch_limit) : 0;
  l.mailboxes = take(lines * sizeof(mailbox_line<P>));
  const uint64_t ring_bytes = entries * sizeof(ring_entry<P>);
  const uint64_t past = (device_base + end) % ring_bytes;
  l.entries = end + (past == 0 ? 0 : ring_bytes - past);
  l.bytes = l.entries + ring_bytes;
  return l;
}

}  // namespace cmdq::multi

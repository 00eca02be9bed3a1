// SPDX-License-Identifier: BSL-1.0
// What the processes share: a control page, a ledger of what was consumed, and one block of memory per queue. Each
// process maps all of it at an address of its own.
#pragma once

#include <cmdq/allocation/strategies.hpp>
#include <cmdq/cmdq.hpp>
#include <cmdq/multi/shared_queue.hpp>
#include <cmdq/platform/hosted_processes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace processes {

inline constexpr unsigned max_workers = 64;
inline constexpr unsigned batch_limit = 8;
inline constexpr unsigned statuses = 16;
inline constexpr std::uint64_t deadline_ns = 100'000'000;
/// A call that lasts this long hangs: a hundred times its budget, and more than a busy machine takes from anybody.
inline constexpr std::uint64_t hang_ns = 30'000'000'000;

using platform = cmdq::platform::hosted_processes<cmdq::platform::boost_atomic>;

/// The device's registers, in the block: another process plays the device. No addresses in it.
class device {
 public:
  void write_prod(std::uint32_t v) noexcept { prod.store(v, std::memory_order_release); }
  std::uint32_t read_cons() const noexcept { return cons.load(std::memory_order_acquire); }
  static std::uint32_t read_gerror() noexcept { return 0; }
  static std::uint32_t read_gerrorn() noexcept { return 0; }
  static void write_gerrorn(std::uint32_t) noexcept {}

  alignas(64) std::atomic<std::uint32_t> prod{0};
  alignas(64) std::atomic<std::uint32_t> cons{0};
};

template <class Allocation>
struct config : cmdq::default_config {
  using platform = processes::platform;
  using allocation = Allocation;
};
template <class Allocation>
using shared = cmdq::multi::shared_queue<device, config<Allocation>>;

/// What one worker, of all there ever were, has had consumed. Its commands are numbered from 1.
struct account {
  std::atomic<std::uint64_t> consumed{0};  ///< number of its last command that was
};

/// What the supervisor watches of a running worker.
struct alignas(64) post {
  std::atomic<std::uint64_t> began{0};  ///< when its call began; 0: it is in none
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> ended[statuses];  ///< how they ended, by status
  std::atomic<std::uint64_t> last_ok{0};       ///< when a call last was ok, or it began to try
};

struct control {
  alignas(64) std::atomic<std::uint32_t> queue{0};  ///< number of the queue in use
  std::atomic<std::uint32_t> enabled{0};            ///< the device is to consume from it: CR0.CMDQEN
  std::atomic<std::uint32_t> enabled_ack{0};        ///< CR0ACK
  std::atomic<std::uint32_t> stop{0};               ///< workers end
  alignas(64) std::atomic<std::uint64_t> lost{0};   ///< commands
  std::atomic<std::uint64_t> repeated{0};
  post posts[max_workers];
};

/// A command that says whose it is: TLBI_NH_VA; worker in the VMID, its place in its list in the ASID, its number in
/// the address.
struct label {
  std::uint16_t worker = 0;
  std::uint8_t index = 0;  ///< in its list
  std::uint8_t n = 0;      ///< commands of the list
  std::uint64_t number = 0;

  [[nodiscard]] cmdq::command command() const noexcept {
    return {{0x12U | std::uint64_t{worker} << 32 | std::uint64_t{index} << 48 | std::uint64_t{n} << 56, number << 12}};
  }
  static label of(const cmdq::command& c) noexcept {
    return {static_cast<std::uint16_t>(c.word[0] >> 32), static_cast<std::uint8_t>(c.word[0] >> 48),
            static_cast<std::uint8_t>(c.word[0] >> 56), c.word[1] >> 12};
  }
};

/// The shared memory as one process has mapped it.
class world {
 public:
  /// Sizes in bytes; `queues`: how many blocks there is room for.
  struct sizes {
    std::size_t accounts = 0;
    std::size_t queues = 0;
    std::size_t block = 0;
  };
  explicit world(const sizes& s) noexcept : sizes_(s) {}

  [[nodiscard]] static std::size_t page_up(std::size_t n) noexcept { return (n + 4095) / 4096 * 4096; }
  [[nodiscard]] std::size_t bytes() const noexcept { return blocks_at() + sizes_.queues * page_up(sizes_.block); }
  [[nodiscard]] std::size_t queues() const noexcept { return sizes_.queues; }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return sizes_.block; }

  /// Maps file `fd`; `salt` makes the address another one in each process. False: the system refused.
  [[nodiscard]] bool map(int fd, unsigned salt) noexcept;
  /// Zeroed memory becomes a world with nothing in it.
  void begin() noexcept;

  [[nodiscard]] control& shared_control() const noexcept { return *reinterpret_cast<control*>(base_); }
  [[nodiscard]] account& of_worker(std::size_t i) const noexcept {
    return reinterpret_cast<account*>(base_ + page_up(sizeof(control)))[i];
  }
  [[nodiscard]] void* block(std::size_t i) const noexcept { return base_ + blocks_at() + i * page_up(sizes_.block); }

 private:
  [[nodiscard]] std::size_t blocks_at() const noexcept {
    return page_up(sizeof(control)) + page_up(sizes_.accounts * sizeof(account));
  }
  sizes sizes_;
  char* base_ = nullptr;
};

inline std::uint64_t now_ns() noexcept { return platform::now_ns(); }

/// Numbers without order (splitmix64).
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t operator()() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) noexcept { return (*this)() % n; }

 private:
  std::uint64_t state_;
};

}  // namespace processes

// SPDX-License-Identifier: BSL-1.0
// The device as an actor of the simulated machine: when it does what, not what commands mean. It executes the entries
// of the very ring that the queue writes, in order, fetched line by line from where the line is. It raises no errors.
#pragma once

#include <array>
#include <cmdq/core/position.hpp>
#include <cmdq/smmuv3/wire.hpp>
#include <cstdint>
#include <deque>

#include "machine.hpp"

namespace cmdq::manycore {

/// What several queues of one device share: the register port, and the engine that executes their commands, in the
/// order in which they come to it.
struct device_core {
  picoseconds port_free = 0;
  picoseconds engine_free = 0;
  picoseconds engine_busy = 0;
  bool syncs_occupy_engine = true;  ///< else a CMD_SYNC keeps its own queue waiting, and nobody else
};

class device {
 public:
  /// Consumes the 2^log2 entries of 16 bytes at `ring`. MSI writes go to the host addresses in the commands. `shared`:
  /// this is one of several queues.
  device(machine& m, const void* ring, unsigned log2, device_core* shared = nullptr);
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  // As device_type asks.
  void write_prod(std::uint32_t v) noexcept;
  std::uint32_t read_cons() noexcept;
  std::uint32_t read_gerror() noexcept { return read_register(other_register), 0; }
  std::uint32_t read_gerrorn() noexcept { return read_register(other_register), 0; }
  void write_gerrorn(std::uint32_t /*v*/) noexcept {}

  // What it did since the start or the last reset.
  [[nodiscard]] std::uint64_t commands() const noexcept { return commands_; }
  [[nodiscard]] std::uint64_t syncs() const noexcept { return syncs_; }
  [[nodiscard]] std::uint64_t prod_writes() const noexcept { return prod_writes_; }
  [[nodiscard]] picoseconds busy() const noexcept { return busy_; }
  [[nodiscard]] picoseconds fetching() const noexcept { return fetching_; }
  /// Part of busy(): waiting for MSI writes to take their line.
  [[nodiscard]] picoseconds messaging() const noexcept { return messaging_; }
  void reset_counters() noexcept {
    commands_ = syncs_ = prod_writes_ = 0;
    busy_ = fetching_ = messaging_ = 0;
  }

 private:
  struct doorbell {
    picoseconds arrives;
    std::uint32_t prod;
  };
  static constexpr unsigned entries_per_line = 4;
  /// Entries of one line on their way, or here.
  struct fetched_line {
    picoseconds arrives;
    std::uint32_t n;
    std::array<command, entries_per_line> entries;
  };

  std::uint32_t read_register(unsigned site);
  void consume();
  void take_doorbells();
  void fetch();
  void execute(const command& c);
  picoseconds through_port(picoseconds arrives);
  void work(bool sync);

  machine& machine_;
  const command* ring_;
  geometry shape_;
  unsigned actor_;
  std::deque<doorbell> doorbells_;
  device_core own_core_;
  device_core& core_;
  picoseconds last_arrival_ = 0;
  std::uint32_t prod_ = 0;
  std::uint32_t cons_ = 0;
  std::uint32_t fetched_to_ = 0;
  std::deque<fetched_line> fetched_;
  std::uint64_t commands_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t prod_writes_ = 0;
  picoseconds busy_ = 0;
  picoseconds fetching_ = 0;
  picoseconds messaging_ = 0;
};

}  // namespace cmdq::manycore

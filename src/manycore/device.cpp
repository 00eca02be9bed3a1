// SPDX-License-Identifier: BSL-1.0
#include "device.hpp"

#include <cmdq/smmuv3/device_type.hpp>

#include <algorithm>
#include <array>
#include <cmdq/platform/concepts.hpp>

namespace cmdq::manycore {

static_assert(device_type<device>);

device::device(machine& m, const void* ring, unsigned log2, device_core* shared)
    : machine_(m),
      ring_(static_cast<const command*>(ring)),
      shape_{log2},
      actor_(m.add_actor("device", [this] { consume(); })),
      core_(shared != nullptr ? *shared : own_core_) {}

picoseconds device::through_port(picoseconds arrives) {
  const picoseconds served = std::max(arrives, core_.port_free);
  core_.port_free = served + machine_.shape().device.read_occupancy;
  return served;
}

void device::write_prod(std::uint32_t v) noexcept {
  if (machine::running() == nullptr) {
    prod_ = v;
    return;
  }
  const auto& t = machine_.shape().device;
  machine_.drain(prod_write);
  machine_.spend(t.doorbell_issue, prod_write);
  machine_.gate();
  ++machine_.counters_of(prod_write).accesses;
  const picoseconds travel = t.doorbell + machine_.detour(machine_.self(), t.socket);
  // The registers of one device are reached in the order in which their writers were ordered.
  last_arrival_ = std::max(last_arrival_, through_port(machine_.now() + travel));
  doorbells_.push_back({last_arrival_, v});
  ++prod_writes_;
  machine_.wake_actor(actor_, last_arrival_);
}

std::uint32_t device::read_cons() noexcept { return read_register(cons_read); }

/// A round trip to the port; returns CMDQ_CONS as it was when the port served the read.
std::uint32_t device::read_register(unsigned site) {
  if (machine::running() == nullptr) return shape_.to_register(cons_);
  const auto& t = machine_.shape().device;
  const picoseconds one_way = t.read / 2 + machine_.detour(machine_.self(), t.socket);
  const picoseconds asked = machine_.now();
  machine_.gate();
  const picoseconds served = through_port(asked + one_way);
  machine_.spend(served - asked, site);
  machine_.gate();
  const std::uint32_t seen = shape_.to_register(cons_);
  machine_.spend(t.read - t.read / 2 + one_way - t.read / 2, site);
  ++machine_.counters_of(site).accesses;
  machine_.counters_of(site).queued += served - asked - one_way;
  machine_.counters_of(site).moving -= served - asked - one_way;
  machine_.add_span(site_name(site), asked);
  return seen;
}

void device::take_doorbells() {
  while (!doorbells_.empty() && doorbells_.front().arrives <= machine_.now()) {
    prod_ = doorbells_.front().prod;
    doorbells_.pop_front();
  }
}

/// Asks for as many lines as it may have under way or at hand: the one in execution, and those ahead of it.
void device::fetch() {
  const auto& t = machine_.shape().device;
  take_doorbells();
  while (fetched_.size() <= t.fetch_ahead) {
    const std::uint32_t slot = shape_.slot(fetched_to_);
    const std::uint32_t n = std::min(shape_.ahead(fetched_to_, prod_), entries_per_line - slot % entries_per_line);
    if (n == 0) return;
    fetched_line l{machine_.device_read(ring_ + slot, t.socket) + t.fetch, n, {}};
    std::copy_n(ring_ + slot, n, l.entries.begin());
    fetched_.push_back(l);
    fetched_to_ = fetched_to_ + n;
  }
}

void device::consume() {
  while (true) {
    fetch();
    if (fetched_.empty()) {
      if (machine_.stopping() && doorbells_.empty()) return;
      machine_.sleep_until(doorbells_.empty() ? machine::never : doorbells_.front().arrives);
      continue;
    }
    const picoseconds begin = machine_.now();
    const fetched_line& line = fetched_.front();
    if (line.arrives > machine_.now()) machine_.spend(line.arrives - machine_.now(), other_register);
    fetching_ += machine_.now() - begin;
    for (std::uint32_t i = 0; i < line.n; ++i) {
      execute(line.entries[i]);
      fetch();
    }
    fetched_.pop_front();
    busy_ += machine_.now() - begin;
  }
}

/// A command or CMD_SYNC in the engine, after those of other queues that came before.
void device::work(bool sync) {
  const auto& t = machine_.shape().device;
  const picoseconds cost = sync ? t.sync : t.command;
  if (&core_ == &own_core_ || (sync && !core_.syncs_occupy_engine)) {
    machine_.spend(cost, other_register);
    return;
  }
  machine_.gate();
  const picoseconds begin = std::max(core_.engine_free, machine_.now());
  core_.engine_free = begin + cost;
  core_.engine_busy += cost;
  machine_.spend(core_.engine_free - machine_.now(), other_register);
}

void device::execute(const command& c) {
  const auto& t = machine_.shape().device;
  const bool sync = opcode_of(c.word[0]) == opcode_sync;
  const picoseconds begin = machine_.now();
  work(sync);
  machine_.gate();
  cons_ = cons_ + 1;
  ++commands_;
  machine_.add_span(sync ? "CMD_SYNC" : "command", begin);
  if (!sync) return;
  ++syncs_;
  const auto signal = static_cast<sync_signal>((c.word[0] >> 12) & 3U);
  if (signal != sync_signal::msi) return;
  auto* target = reinterpret_cast<std::uint32_t*>(c.word[1] & 0x000ffffffffffffcULL);
  // In order with the commands: the next one is executed when the write has taken the line from whoever has it.
  const picoseconds asked = machine_.now();
  machine_.device_write(target, t.socket);
  *target = static_cast<std::uint32_t>(c.word[0] >> 32);
  machine_.written(target);
  messaging_ += machine_.now() - asked;
  machine_.add_span("MSI write", asked);
}

}  // namespace cmdq::manycore

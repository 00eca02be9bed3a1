// SPDX-License-Identifier: BSL-1.0
#include "reproduce/parameters.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "errors.hpp"

namespace cmdq::cli {

namespace {

constexpr origin chosen = origin::chosen;
constexpr parameter defaults[] = {
    {"safe.buffer_kib", 16, 4, 1024, true, "KiB", chosen, "frames gathered in one buffer, one unmap each"},
    {"safe.receive_buffers", 10, 1, 256, true, "", chosen, "buffers kept at the adapter for receiving"},
    {"safe.send_buffers", 4, 1, 256, true, "", chosen, "buffers kept at the adapter for sending"},
    {"safe.line_mbit", 1000.0 * 1448 / 1538, 1, 100'000, false, "Mbit/s", origin::input,
     "TCP payload on gigabit Ethernet: 1448 of 1538 bytes"},
    {"safe.cpu_us", 30, 0, 100'000, false, "us", chosen, "CPU time per buffer besides unmapping"},
    {"safe.command_ns", 50, 0, 1e6, true, "ns", chosen, "the SMMU's time for a TLBI"},
    {"safe.sync_ns", 170, 0, 1e6, true, "ns", chosen, "the SMMU's time for a CMD_SYNC that need not wait"},
    {"safe.max_delay_us", 0, 0, 100'000, false, "us", origin::fitted,
     "longest wait for SAFE; 0: fitted to iperf3 receive, strict, table missing (published for syncs: 1 to 2 ms)"},
    {"display.drain_factor", 1, 0.01, 10, false, "", chosen, "times what four layers of 4K at 60 Hz take"},
    {"display.feed_factor", 1, 0.01, 10, false, "", chosen, "times the catalogue's bandwidth"},
    {"display.buffer_lines", 16, 1, 64, true, "", chosen, "lines that a pipe buffers"},
    {"display.invalidation_ns", 3000, 0, 1e6, true, "ns", chosen, "how long an invalidation holds fetches up"},
    {"display.burst_ns", 2000, 1, 1e6, true, "ns", chosen, "longest burst of others at memory"},
    {"huge.small_entries", 256, 1, 1e6, true, "", chosen, "IOTLB entries for 4 KiB pages"},
    {"huge.huge_entries", 32, 1, 1e6, true, "", chosen, "IOTLB entries for 2 MiB pages"},
    {"huge.small_share", -1, -1, 1, false, "", origin::fitted,
     "share of visits that go to small objects; -1: fitted to OglVSTangent, 14 % to 2 %"},
    {"completion.lists_per_packet", 32768.0 / 1460.0, 1, 10'000, false, "", chosen,
     "unmaps of a 32 KiB packet: one per frame of 1460 bytes"},
    {"contention.think_ns", 0, 0, 1e9, false, "ns", origin::input,
     "other work of a map and unmap pair; 0: as the machine's file says"},
    {"contention.time_us", 5000, 10, 1e6, true, "us", chosen, "simulated time of a run with 32 CPUs and more"},
    {"contention.nvme_cpus", 96, 1, 128, true, "", chosen, "CPUs that do the NVMe test's I/O"},
    {"calls.pairs", 2, 1, 64, true, "", chosen, "map + unmap pairs per packet"},
    {"calls.others", 2, 0, 64, true, "", chosen, "other indirect calls per packet"},
};

}  // namespace

const char* name(origin o) {
  switch (o) {
    case origin::input:
      return "input";
    case origin::fitted:
      return "fitted";
    case origin::chosen:
      return "chosen";
    default:
      return "predicted";
  }
}

parameters::parameters() : all_(std::begin(defaults), std::end(defaults)) {}

double parameters::operator[](std::string_view name) const {
  for (const parameter& p : all_)
    if (name == p.name) return p.value;
  throw std::logic_error(fmt::format("no parameter {}", name));
}

void parameters::set(const std::string& assignment) {
  const auto equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  std::string known;
  for (parameter& p : all_) {
    known += (known.empty() ? "" : ", ") + std::string(p.name);
    if (name != p.name || equals == std::string::npos) continue;
    const std::string text = assignment.substr(equals + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
    if (!read || value < p.least || value > p.most || (p.whole && value != std::floor(value)))
      throw input_error(fmt::format("--set {}: {} must be {} from {} to {}", assignment, name,
                                    p.whole ? "an integer" : "a number", p.least, p.most));
    p.value = value;
    return;
  }
  throw input_error(fmt::format("--set {}: expected name=value with one of {}", assignment, known));
}

}  // namespace cmdq::cli

// SPDX-License-Identifier: BSL-1.0
// `cmdq simulate safe`: one CPU that unmaps in strict mode while a display reads memory through the same SMMU. The
// queue and the device are the library's own; only the clock is simulated.
#include <cmdq/smmuv3/commands.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <vector>

#include "commands.hpp"
#include "errors.hpp"
#include "output/results.hpp"
#include "simulate/safe_world.hpp"

namespace cmdq::cli {

namespace {

struct safe_options {
  std::string soc = "sc8280xp";
  std::string lut = "set";
  std::string gate = "on";
  std::string use = "linear";
  std::string json;
  int firmware = 0;
  std::uint32_t syncs = 4000;
  std::uint64_t seed = 1;
};

struct safe_report {
  std::vector<std::uint64_t> latencies;  ///< sorted
  std::uint32_t underruns = 0;
  std::uint32_t forced = 0;
  bool gate_on = true;

  [[nodiscard]] std::uint64_t percentile(unsigned p) const { return latencies[(latencies.size() - 1) * p / 100]; }
};

safe_report run(const safe_options& o, const model::display_soc& soc, const model::signal_tables& tables,
                model::pipe_use use, model::safe_gate& gate) {
  using P = simulated_time;
  struct config : default_config {
    using platform = P;
  };
  constexpr unsigned log2 = 8;
  scenario times;
  times.screen = model::scanout_for(soc, use);
  world around(tables, use, times, o.seed);
  gated_hooks hooks;
  hooks.around = &around;
  hooks.gate = &gate;
  hooks.times = &times;
  model::hardware<P, ring_entry<P>, gated_hooks> device(model::device_drive::in_write, {}, hooks);
  device.speed.command_ns = 50;
  device.speed.sync_ns = 170;
  const auto memory = std::make_unique<fixed_memory<P, log2>>();
  const ring_memory<P> ring = memory->memory();
  if (const status s = device.attach(ring.entries, log2, ring.device_address); s != status::ok)
    throw check_error(fmt::format("{}: the modelled device refused the ring: {}", soc.name, name(s)));
  const auto plan = make_plan<config>({.log2_size = log2, .producers = 1}, ring);
  if (!plan) throw check_error(fmt::format("the queue refused {}: {}", plan.why().field, name(plan.code())));
  command_queue<decltype(device), config> queue(*plan, device);
  typename decltype(queue)::producer cpu;
  if (const status s = queue.attach(cpu); s != status::ok) throw check_error(name(s));

  safe_report report;
  for (std::uint32_t i = 0; i < o.syncs; ++i) {
    around.pass(around.between(times.unmap_ns / 4, times.unmap_ns), true);
    const auto unmap =
        smmuv3::encode(smmuv3::tlbi_nh_va{.vmid = 0, .asid = 1, .leaf = true, .addr = uint64_t{i} << 12});
    const std::uint64_t start = P::now_ns();
    const outcome done = cpu.issue(&*unmap, 1);
    if (done.code != status::ok) throw check_error(fmt::format("sync {} ended with {}", i, name(done.code)));
    report.latencies.push_back(P::now_ns() - start);
  }
  std::sort(report.latencies.begin(), report.latencies.end());
  report.underruns = around.display.underruns();
  report.forced = gate.forced();
  report.gate_on = gate.on();
  return report;
}

const model::display_soc& chosen_soc(const std::string& wanted) {
  if (const model::display_soc* soc = model::find_display_soc(wanted.c_str())) return *soc;
  std::string known;
  for (const model::display_soc& soc : model::display_socs) known += std::string(known.empty() ? "" : ", ") + soc.name;
  throw input_error(fmt::format("--soc {}: no such SoC; known are {}", wanted, known));
}

/// "fe00,fe00,ffff": linear, macrotile, nrt.
std::array<std::uint32_t, model::pipe_uses> parse_lut(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw input_error(
        fmt::format("--lut {}: {}; expected missing, set, or three hexadecimal numbers of 16 bits such as "
                    "fe00,fe00,ffff (linear, macrotile, nrt)",
                    text, why));
  };
  std::array<std::uint32_t, model::pipe_uses> values{};
  const char* at_text = text.data();
  const char* const end = at_text + text.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [stop, error] = std::from_chars(at_text, end, values[i], 16);
    if (error != std::errc{}) refuse(fmt::format("value {} is not a hexadecimal number", i + 1));
    if (values[i] > 0xffff) refuse(fmt::format("value {} is {:#x}, limit 0xffff", i + 1, values[i]));
    const bool last = i + 1 == values.size();
    if (last ? stop != end : stop == end || *stop != ',') refuse(fmt::format("unexpected text after value {}", i + 1));
    at_text = last ? stop : stop + 1;
  }
  return values;
}

model::signal_tables chosen_tables(const safe_options& o, const model::display_soc& soc) {
  model::signal_tables tables = soc.tables;
  if (o.lut == "set") return tables;
  const auto values = o.lut == "missing" ? std::array<std::uint32_t, model::pipe_uses>{} : parse_lut(o.lut);
  std::copy(values.begin(), values.end(), tables.safe);
  return tables;
}

void warn(const model::signal_tables& tables, results& out) {
  constexpr const char* uses[] = {"linear", "macrotile", "nrt"};
  const model::table_warning w = model::check(tables);
  if (w.safe_missing) out.say("warning: the safe table is missing: every invalidation takes the maximum delay\n");
  for (std::uint32_t i = 0; i < model::pipe_uses; ++i) {
    if ((w.never_safe >> i & 1U) != 0)
      out.say(
          fmt::format("warning: safe[{}] is 0: with that use every invalidation takes the maximum delay\n", uses[i]));
    if ((w.danger_too_wide >> i & 1U) != 0)
      out.say(fmt::format("warning: danger[{}] = {:#x} is wider than 16 fill levels: masked to {:#x}\n", uses[i],
                          tables.danger[i], tables.danger[i] & 0xffffU));
  }
}

std::string text(const safe_options& o, const model::signal_tables& t, const safe_report& r) {
  const auto us = [&](unsigned p) { return static_cast<double>(r.percentile(p)) / 1e3; };
  return fmt::format("{}: safe table {} ({:04x} {:04x} {:04x}), use {}, gate {}, {} syncs, simulated time\n", o.soc,
                     o.lut, t.safe[0], t.safe[1], t.safe[2], o.use, r.gate_on ? "on" : "off", r.latencies.size()) +
         fmt::format("{:>14} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "sync latency:", "min", "p50", "p99", "max",
                     "forced", "underruns") +
         fmt::format("{:>14} {:>7.1f} us {:>7.1f} us {:>7.1f} us {:>7.1f} us {:>8} {:>10}\n", "", us(0), us(50), us(99),
                     us(100), r.forced, r.underruns);
}

nlohmann::ordered_json to_json(const safe_options& o, const safe_report& r) {
  return {
      {"soc", o.soc},
      {"lut", o.lut},
      {"gate", r.gate_on ? "on" : "off"},
      {"sync_latency_ns",
       {{"min", r.percentile(0)}, {"p50", r.percentile(50)}, {"p99", r.percentile(99)}, {"max", r.percentile(100)}}},
      {"underruns", r.underruns}};
}

void simulate_safe(const safe_options& o) {
  const model::display_soc& soc = chosen_soc(o.soc);
  const model::signal_tables tables = chosen_tables(o, soc);
  const auto use = o.use == "linear"      ? model::pipe_use::linear
                   : o.use == "macrotile" ? model::pipe_use::macrotile
                                          : model::pipe_use::nrt;
  results out(o.json);
  warn(tables, out);
  model::safe_gate gate(soc.max_delay_ns);
  if (o.gate == "off") {
    const int said = gate.switch_to(false, [&](bool) { return o.firmware; });
    if (said < 0)
      out.say(fmt::format("warning: the firmware call to switch the gate off failed with {}: it stays on\n", said));
  }
  const safe_report r = run(o, soc, tables, use, gate);
  out.say(text(o, tables, r));
  out.add([&](auto& j) { j.update(to_json(o, r)); });
  out.finish();
}

}  // namespace

void add_simulate_safe(arguments& simulate) {
  arguments command = simulate.add("safe", "Latency of TLB syncs that wait for a display's SAFE signal");
  const auto o = std::make_shared<safe_options>();
  command.text("--soc", o->soc, "Which SoC's tables and maximum delay");
  command.text("--lut", o->lut, "Safe table: missing (all 0), set (the SoC's), or LINEAR,MACROTILE,NRT in hexadecimal");
  command.choice("--gate", o->gate, {"on", "off"}, "Whether invalidations wait for SAFE");
  command.choice("--use", o->use, {"linear", "macrotile", "nrt"}, "What the display's pipe reads");
  command.number("--firmware", o->firmware, -4096, 4096,
                 "Result of the secure call that switches the gate off; negative: it fails");
  command.number("--syncs", o->syncs, 1, 1'000'000, "Invalidations to wait for");
  command.number("--seed", o->seed, 0, ~std::uint64_t{0}, "Seed of the memory traffic");
  command.json(o->json);
  command.runs([o] { simulate_safe(*o); });
}

}  // namespace cmdq::cli

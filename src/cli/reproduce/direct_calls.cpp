// SPDX-License-Identifier: BSL-1.0
// What retpolines cost in the DMA path and how much of it direct calls win back. Measured on this machine, now: the
// only part of `reproduce` whose figures change from run to run: they are told, no bar hangs on them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "errors.hpp"
#include "kernel.hpp"
#include "output/chart.hpp"
#include "reproduce/comparison.hpp"

namespace cmdq::cli {

namespace {

using namespace direct_calls;

// XDP redirect from 10G to 40G, packets per second.
constexpr double published_plain = 11'913'154;
constexpr double published_retpoline = 7'438'283;
constexpr double published_direct = 9'610'088;

/// Per packet, assumed: a buffer mapped and unmapped on either side, the program that is run, and the driver's
/// transmit.
constexpr unsigned dma_pairs = 2;
constexpr unsigned other_calls = 2;

double run_ns(run_packets run, reach how, const packet_shape& shape, std::uint64_t packets) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  static_cast<void>(run(how, shape, packets));  // in another object file: not optimised away
  const double ns = std::chrono::duration<double, std::nano>(clock::now() - start).count();
  return ns / static_cast<double>(packets);
}

struct candidate {
  run_packets run;
  reach how;
  packet_shape shape;
};

/// ns per packet of each, the best of many short runs taken in turn: other load on the machine only ever adds time.
std::vector<double> measure(const std::vector<candidate>& all) {
  constexpr std::uint64_t packets = 20'000;
  constexpr int rounds = 60;
  std::vector<double> best(all.size(), 1e300);
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      best[i] = std::min(best[i], run_ns(all[i].run, all[i].how, all[i].shape, packets));
    }
  }
  return best;
}

/// The one fit: rounds of other work, so that a packet without retpolines takes what was published.
unsigned fit_work(unsigned others) {
  constexpr unsigned probe = 64;
  const auto ns = measure({{plain_packets, reach::function_pointer, {dma_pairs, others, 0}},
                           {plain_packets, reach::function_pointer, {dma_pairs, others, probe}}});
  const double wanted = 1e9 / published_plain - ns[0];
  const double round = (ns[1] - ns[0]) / probe;  // not above 0 where other load hid the difference
  return wanted <= 0 || round <= 0 ? 0 : static_cast<unsigned>(std::min(wanted / round, 1e6));
}

struct three {
  double plain, retpoline, direct;  ///< ns per packet
  /// Share of the packets per second lost to retpolines that direct calls win back.
  [[nodiscard]] double recovery() const { return (1 / direct - 1 / retpoline) / (1 / plain - 1 / retpoline); }
  [[nodiscard]] bool ordered() const { return plain < direct && direct < retpoline; }
};

constexpr struct {
  reach how;
  const char* name;
} ways[] = {{reach::statically, "static dispatch"},
            {reach::handle, "dma::handle, common mapper"},
            {reach::function_pointer, "function pointer"},
            {reach::virtually, "virtual function"},
            {reach::handle_other, "dma::handle, other mapper"}};

/// A comparison of times means something only where all do the same: every way must come to the same sum.
void check_same_work(reproduction& r) {
  constexpr std::uint64_t packets = 1000;
  const packet_shape shape{dma_pairs, other_calls, 3};
  const std::uint64_t expected = plain_packets(reach::statically, shape, packets);
  for (const auto& w : ways) {
    for (const run_packets run : {run_packets{plain_packets}, with_retpoline}) {
      const std::uint64_t sum = run(w.how, shape, packets);
      if (sum != expected)
        throw check_error(fmt::format("reproduce direct-calls: {} {}: the sum of {} packets is {:#x}, expected {:#x}",
                                      w.name, run == with_retpoline ? "with retpolines" : "plain", packets, sum,
                                      expected));
    }
  }
  r.json["same_work"] = true;
}

three packet_times(unsigned others) {
  const packet_shape shape{dma_pairs, others, fit_work(others)};
  const auto ns = measure({{plain_packets, reach::function_pointer, shape},
                           {with_retpoline, reach::function_pointer, shape},
                           {with_retpoline, reach::handle, shape}});
  return {ns[0], ns[1], ns[2]};
}

void add_call_costs(reproduction& r) {
  const packet_shape shape{8, 0, 0};
  std::vector<candidate> all;
  for (const auto& w : ways) {
    all.push_back({plain_packets, w.how, shape});
    all.push_back({with_retpoline, w.how, shape});
  }
  const auto ns = measure(all);
  r.text += fmt::format("{:<28} {:>12} {:>12}\n", "ns per map + unmap", "plain", "retpoline");
  r.html += "<table><tr><th>ns per map + unmap</th><th>plain</th><th>retpoline</th></tr>\n";
  for (std::size_t i = 0; i < std::size(ways); ++i) {
    const double plain = ns[2 * i] / shape.pairs;
    const double thunk = ns[2 * i + 1] / shape.pairs;
    r.text += fmt::format("{:<28} {:>12.2f} {:>12.2f}\n", ways[i].name, plain, thunk);
    r.html += fmt::format("<tr><td>{}</td><td>{:.2f}</td><td>{:.2f}</td></tr>\n", ways[i].name, plain, thunk);
    r.json["pair_ns"].push_back({{"reach", ways[i].name}, {"plain", plain}, {"retpoline", thunk}});
  }
  r.text += "\n";
  r.html += "</table>\n";
}

}  // namespace

reproduction reproduce_direct_calls() {
  reproduction r;
  if (!has_retpoline) {
    add_paragraph(r, "Not measured: this compiler cannot make retpolines (-mindirect-branch=thunk, -mretpoline).");
    r.json["rows"] = nlohmann::ordered_json::array();
    return r;
  }
  check_same_work(r);
  add_call_costs(r);
  const three t = packet_times(other_calls);
  const double published_recovery = (published_direct - published_retpoline) / (published_plain - published_retpoline);
  const auto mpps = [](double pps) { return pps / 1e6; };
  std::vector<compared> cells = {
      {"no retpoline", "Mpps", mpps(published_plain), mpps(published_plain), 1e3 / t.plain, true, ""},
      {"retpoline, indirect", "Mpps", mpps(published_retpoline), mpps(published_retpoline), 1e3 / t.retpoline, false,
       ""},
      {"retpoline, direct calls", "Mpps", mpps(published_direct), mpps(published_direct), 1e3 / t.direct, false, ""}};
  add_comparison(r, cells, "XDP redirect", "million packets per second", 2);
  r.json["recovery"] = {{"published", published_recovery}, {"own", t.recovery()}};
  r.json["order_as_published"] = t.ordered();
  add_paragraph(r, fmt::format("Share of the loss that direct calls win back: published {:.2f}, here {:.2f}; order {}.",
                               published_recovery, t.recovery(), t.ordered() ? "as published" : "not as published"));
  std::string sensitivity;
  for (const unsigned others : {1U, 2U, 3U, 4U, 6U}) {
    const double share = packet_times(others).recovery();
    sensitivity += fmt::format("{}{}: {:.2f}", sensitivity.empty() ? "" : ", ", others, share);
    r.json["recovery_by_other_calls"].push_back({{"other_calls", others}, {"recovery", share}});
  }
  add_paragraph(r,
                fmt::format("Fitted: the other work of a packet, from the figure without retpolines. Assumed: {} DMA "
                            "calls and {} other indirect calls per packet (not published); the share won back by "
                            "number of other calls: {}. Processor and compiler differ from the published ones; "
                            "instructions per cycle are not measured.",
                            2 * dma_pairs, other_calls, sensitivity));
  return r;
}

}  // namespace cmdq::cli

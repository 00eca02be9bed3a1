// SPDX-License-Identifier: BSL-1.0
// What retpolines cost in the DMA path and how much of it direct calls win back. Measured on this machine, now: the
// only part of `reproduce` whose figures change from run to run: they are told, no bar hangs on them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "errors.hpp"
#include "kernel.hpp"
#include "reproduce/perf_counter.hpp"
#include "reproduce/reproduce.hpp"

namespace cmdq::cli {

namespace {

using namespace direct_calls;

// XDP redirect from 10G to 40G, packets per second.
constexpr double published_plain = 11'913'154;
constexpr double published_retpoline = 7'438'283;
constexpr double published_direct = 9'610'088;

constexpr double published_ipc_plain = 2.39;
constexpr double published_ipc_retpoline = 1.54;
constexpr double published_ipc_direct = 2.04;

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

/// What a packet takes. `ns`: of the median round; `over_first`: median of the quotients by the first candidate of the
/// same round, which hardly depend on what else the machine does.
struct taken {
  double ns = 0;
  double over_first = 1;
  counted per_packet_1000{};  ///< of 1000 packets; zeroes where not counted
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// Rounds in which each runs once, each round begun by another one.
std::vector<taken> measure(const std::vector<candidate>& all, int rounds = 61) {
  constexpr std::uint64_t packets = 4000;
  std::vector<std::vector<double>> ns(all.size());
  for (int r = 0; r < rounds; ++r) {
    std::vector<double> now(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t k = (i + static_cast<std::size_t>(r)) % all.size();
      now[k] = run_ns(all[k].run, all[k].how, all[k].shape, packets);
    }
    for (std::size_t i = 0; i < all.size(); ++i) ns[i].push_back(now[i]);
  }
  std::vector<taken> out(all.size());
  perf_counter counter;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> quotients;
    for (std::size_t r = 0; r < ns[i].size(); ++r) quotients.push_back(ns[i][r] / ns[0][r]);
    out[i].ns = median(ns[i]);
    out[i].over_first = median(quotients);
    counter.start();
    static_cast<void>(all[i].run(all[i].how, all[i].shape, 1000));
    out[i].per_packet_1000 = counter.stop();
  }
  return out;
}

/// The one fit: rounds of other work, so that a packet without retpolines takes what was published.
unsigned fit_work(unsigned pairs, unsigned others) {
  constexpr unsigned probe = 64;
  const auto t = measure({{plain_packets, reach::function_pointer, {pairs, others, 0}},
                          {plain_packets, reach::function_pointer, {pairs, others, probe}}});
  const double wanted = 1e9 / published_plain - t[0].ns;
  const double round = (t[1].ns - t[0].ns) / probe;  // not above 0 where other load hid the difference
  return wanted <= 0 || round <= 0 ? 0 : static_cast<unsigned>(std::min(wanted / round, 1e6));
}

struct three {
  taken plain, retpoline, direct;
  /// Share of the packets per second lost to retpolines that direct calls win back.
  [[nodiscard]] double recovery() const {
    const double lost = 1 - 1 / retpoline.over_first;
    return std::abs(lost) < 1e-6 ? 0 : (1 / direct.over_first - 1 / retpoline.over_first) / lost;
  }
  [[nodiscard]] bool ordered() const { return 1 < direct.over_first && direct.over_first < retpoline.over_first; }
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
  const packet_shape shape{2, 2, 3};
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

three packet_times(unsigned pairs, unsigned others, unsigned work) {
  const packet_shape shape{pairs, others, work};
  const auto t = measure({{plain_packets, reach::function_pointer, shape},
                          {with_retpoline, reach::function_pointer, shape},
                          {with_retpoline, reach::handle, shape}});
  return {t[0], t[1], t[2]};
}

void add_call_costs(reproduction& r) {
  const packet_shape shape{8, 0, 0};
  std::vector<candidate> all;
  for (const auto& w : ways) {
    all.push_back({plain_packets, w.how, shape});
    all.push_back({with_retpoline, w.how, shape});
  }
  const auto t = measure(all);
  std::vector<std::vector<std::string>> rows = {{"ns per map + unmap", "plain", "retpoline"}};
  for (std::size_t i = 0; i < std::size(ways); ++i) {
    const double plain = t[2 * i].ns / shape.pairs;
    const double thunk = t[2 * i + 1].ns / shape.pairs;
    rows.push_back({ways[i].name, fmt::format("{:.2f}", plain), fmt::format("{:.2f}", thunk)});
    r.json["pair_ns"].push_back({{"reach", ways[i].name}, {"plain", plain}, {"retpoline", thunk}});
  }
  add_table(r, rows);
}

/// Every other operation, by the ways that a handle has.
void add_operations(reproduction& r) {
  constexpr const char* names[] = {"map + unmap", "map_sg + unmap_sg, 4 segments", "sync for device + CPU",
                                   "alloc + free, refused", "map by refuse_all"};
  constexpr reach how[] = {reach::statically, reach::handle, reach::handle_other};
  constexpr std::uint64_t times = 4000;
  std::vector<std::vector<std::string>> rows = {{"ns, plain / retpoline", "static", "handle, common", "handle, other"}};
  for (unsigned o = 0; o < operation_count; ++o) {
    std::vector<double> ns[6];
    for (int round = 0; round < 31; ++round)
      for (unsigned k = 0; k < 6; ++k) {
        const run_operation run = k % 2 == 0 ? plain_operation : operation_with_retpoline;
        const auto start = std::chrono::steady_clock::now();
        static_cast<void>(run(how[k / 2], static_cast<operation>(o), times));
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        ns[k].push_back(took.count() / times);
      }
    nlohmann::ordered_json j = {{"operation", names[o]}};
    rows.push_back({names[o]});
    for (unsigned k = 0; k < 3; ++k) {
      const double plain = median(ns[2 * k]);
      const double thunk = median(ns[2 * k + 1]);
      rows.back().push_back(fmt::format("{:.2f} / {:.2f}", plain, thunk));
      j[rows[0][k + 1]] = {{"plain", plain}, {"retpoline", thunk}};
    }
    r.json["operations"].push_back(j);
  }
  add_table(r, rows);
}

void add_counted(reproduction& r, const char* what, double published, const taken& t, origin how) {
  const counted& c = t.per_packet_1000;
  if (c.cycles == 0) return;
  figure f{fmt::format("instructions per cycle, {}", what),
           "",
           published,
           published,
           static_cast<double>(c.instructions) / static_cast<double>(c.cycles),
           how};
  f.nulls = {{"as without retpolines", published_ipc_plain}, {"one", 1}};
  f.measured = true;
  r.figures.push_back(std::move(f));
}

}  // namespace

reproduction reproduce_direct_calls(const reproduce_input& in) {
  reproduction r;
  if (!has_retpoline) {
    add_figures(r, "XDP redirect");
    add_paragraph(r, "Not measured: this compiler cannot make retpolines (-mindirect-branch=thunk, -mretpoline).");
    return r;
  }
  check_same_work(r);
  const auto pairs = static_cast<unsigned>(in.p["calls.pairs"]);
  const auto others = static_cast<unsigned>(in.p["calls.others"]);
  const unsigned work = fit_work(pairs, others);
  const three t = packet_times(pairs, others, work);
  const double published_recovery = (published_direct - published_retpoline) / (published_plain - published_retpoline);
  const double dma_share = 2.0 * pairs / (2.0 * pairs + others);
  const auto add = [&](const char* name, const char* unit, double published, double ours, origin how,
                       std::vector<null_model> nulls) {
    r.figures.push_back({name, unit, published, published, ours, how, std::move(nulls)});
    r.figures.back().measured = true;
  };
  const double plain = published_plain / 1e6;
  add("XDP redirect, no retpoline", "Mpps", plain, 1e3 / t.plain.ns, origin::fitted, {});
  add("XDP redirect, retpoline, indirect", "Mpps", published_retpoline / 1e6, plain / t.retpoline.over_first,
      origin::predicted, {{"nothing lost", plain}, {"half lost", plain / 2}});
  add("XDP redirect, retpoline, direct calls", "Mpps", published_direct / 1e6, plain / t.direct.over_first,
      origin::predicted, {{"nothing lost", plain}, {"half lost", plain / 2}});
  add("share of the loss won back", "", published_recovery, t.recovery(), origin::predicted,
      {{"all", 1}, {"the DMA calls' part of the indirect calls", dma_share}});
  add_counted(r, "no retpoline", published_ipc_plain, t.plain, origin::predicted);
  add_counted(r, "retpoline, indirect", published_ipc_retpoline, t.retpoline, origin::predicted);
  add_counted(r, "retpoline, direct calls", published_ipc_direct, t.direct, origin::predicted);
  add_figures(r, "XDP redirect");
  r.json["recovery"] = {{"published", published_recovery}, {"ours", t.recovery()}};
  r.json["order_as_published"] = t.ordered();
  add_paragraph(
      r, fmt::format(
             "Share of the loss that direct calls win back: published {:.2f}, here {:.2f}; order {}. A direct call "
             "of the handle is compiled into the loop, so it also saves what the call through a pointer costs "
             "without retpolines; the published one still was a call with checks. So more than all of the loss "
             "can come back here, and could not there. How many other indirect calls a packet makes was not "
             "published: 0.49 says about as many as DMA calls.",
             published_recovery, t.recovery(), t.ordered() ? "as published" : "not as published"));
  if (t.plain.per_packet_1000.cycles == 0)
    add_paragraph(r, "Instructions and cycles: not counted, this kernel or processor does not let them be.");
  if (in.figures_only) return r;
  add_call_costs(r);
  add_operations(r);
  std::string sensitivity;
  for (const unsigned n : {1U, 2U, 4U, 8U}) {
    const double share = packet_times(pairs, n, work).recovery();
    sensitivity += fmt::format("{}{}: {:.2f}", sensitivity.empty() ? "" : ", ", n, share);
    r.json["recovery_by_other_calls"].push_back({{"other_calls", n}, {"recovery", share}});
  }
  add_paragraph(r,
                fmt::format("Won back, by other indirect calls per packet: {}. Each figure is the median of 61 rounds "
                            "in which all ways run in turn, as a quotient within the round.",
                            sensitivity));
  return r;
}

}  // namespace cmdq::cli

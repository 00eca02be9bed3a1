// SPDX-License-Identifier: BSL-1.0
// USB Ethernet on SC8280XP: throughput with strict and lazy unmapping, with the display's safe table missing and set.
// Mapper, queue, device, gate and display are the library's; the adapter is a line that serves a few buffers in turn.
#include <cmdq/dma/mapper.hpp>
#include <cmdq/dma/queue_invalidator.hpp>

#include <fmt/format.h>

#include <deque>
#include <memory>

#include "reproduce/reproduce.hpp"
#include "simulate/safe_world.hpp"

namespace cmdq::cli {

namespace {

using P = simulated_time;

struct setup {
  bool lazy = false;
  bool table_set = false;
};

/// One of the table's cells, as Mbit/s of payload.
struct published_row {
  const char* name;
  bool send;
  bool mib;  ///< published in MB/s as scp prints them: 2^20 bytes
  double mbit[4];
};

constexpr setup setups[] = {{false, false}, {true, false}, {false, true}, {true, true}};
constexpr const char* setup_names[] = {"strict, table missing", "lazy, table missing", "strict, table set",
                                       "lazy, table set"};
constexpr published_row rows[] = {{"iperf3 receive, Mbit/s", false, false, {114, 941, 941, 941}},
                                  {"iperf3 send, Mbit/s", true, false, {124, 891, 703, 940}},
                                  {"scp receive, MB/s", false, true, {14.6, 110, 110, 111}},
                                  {"scp send, MB/s", true, true, {12.5, 98.9, 91.5, 110}}};

struct config : default_config {
  using platform = P;
};
using hardware = model::hardware<P, ring_entry<P>, gated_hooks>;
using queue_type = command_queue<hardware, config>;
using invalidator_type = dma::queue_invalidator<P, queue_type>;

void require(status s, const char* what) {
  if (s != status::ok) throw std::runtime_error(fmt::format("reproduce safe: {}: {}", what, name(s)));
}

/// The screen is what the SoC's catalogue allows, read linearly.
scenario times_of(const parameters& p) {
  const auto whole = [&](const char* name) { return static_cast<std::uint64_t>(p[name]); };
  scenario s;
  s.screen = model::scanout_for(*model::find_display_soc("sc8280xp"), model::pipe_use::linear);
  s.screen.drain = static_cast<std::uint64_t>(static_cast<double>(s.screen.drain) * p["display.drain_factor"]);
  s.screen.feed = static_cast<std::uint64_t>(static_cast<double>(s.screen.feed) * p["display.feed_factor"]);
  s.screen.buffer = s.screen.unit * whole("display.buffer_lines");
  s.invalidation_ns = whole("display.invalidation_ns");
  s.drought_ns = whole("display.burst_ns");
  return s;
}

/// One CPU, one adapter, one display.
class machine {
 public:
  machine(const parameters& p, const setup& how, std::uint64_t max_delay_ns)
      : buffer_bytes(static_cast<std::uint64_t>(p["safe.buffer_kib"]) * 1024),
        cpu_ns(static_cast<std::uint64_t>(p["safe.cpu_us"] * 1000)),
        line_ns(static_cast<std::uint64_t>(static_cast<double>(buffer_bytes * 8 * 1000) / p["safe.line_mbit"])),
        times_(times_of(p)),
        tables_(tables(how)),
        around_(tables_, model::pipe_use::linear, times_, 1),
        gate_(max_delay_ns),
        device_(model::device_drive::in_write, {}, hooks()),
        bytes_(1 << 20),
        memory_(bytes_.data(), bytes_.size()) {
    device_.speed.command_ns = static_cast<std::uint64_t>(p["safe.command_ns"]);
    device_.speed.sync_ns = static_cast<std::uint64_t>(p["safe.sync_ns"]);
    const auto ring = ring_->memory();
    require(device_.attach(ring.entries, log2_ring, ring.device_address), "device");
    const auto plan = make_plan<config>({.log2_size = log2_ring, .batch_limit = 16, .producers = 1}, ring);
    require(plan.code(), "queue");
    queue_ = std::make_unique<queue_type>(*plan, device_);
    require(invalidator_.init(memory_, *queue_, 1, {.vmid = 0, .asid = 1, .ril = false}), "invalidator");
    require(map_.init(memory_, {.iova = {.cpus = 1, .depot_magazines = 4, .log2_pages = 14}}, invalidator_), "mapper");
    if (how.lazy) require(map_.set_mode(dma::mode::lazy, memory_, {.cpus = 1}), "flush queue");
  }

  /// Mbit/s of payload with so many buffers at the adapter.
  double throughput(unsigned buffers, std::uint64_t for_ns) {
    const std::uint64_t start = P::now_ns();
    std::uint64_t done = 0;
    for (unsigned i = 0; i < buffers; ++i) submit();
    while (P::now_ns() - start < for_ns) {
      wait_for_completion();
      const std::uint64_t begin = P::now_ns();
      require(map_.unmap(0, device_policy, waiting_.front().iova, buffer_bytes), "unmap");
      longest_unmap_ns = std::max(longest_unmap_ns, P::now_ns() - begin);
      waiting_.pop_front();
      around_.pass(cpu_ns, true);
      submit();
      ++done;
    }
    return static_cast<double>(done * buffer_bytes * 8) * 1000 / static_cast<double>(P::now_ns() - start);
  }

  std::uint64_t longest_unmap_ns = 0;

 private:
  static constexpr unsigned log2_ring = 8;
  static constexpr dma::device device_policy{true, {dma::huge_pages::never, false}};
  struct buffer {
    std::uint64_t iova;
    std::uint64_t done_at;
  };

  static model::signal_tables tables(const setup& how) {
    model::signal_tables t = model::find_display_soc("sc8280xp")->tables;
    if (!how.table_set) std::fill(std::begin(t.safe), std::end(t.safe), 0);
    return t;
  }
  gated_hooks hooks() {
    gated_hooks h;
    h.around = &around_;
    h.gate = &gate_;
    h.times = &times_;
    return h;
  }
  void submit() {
    const auto iova = map_.map(0, device_policy, 0x8000'0000, buffer_bytes);
    require(iova.code(), "map");
    line_free_ = std::max(line_free_, P::now_ns()) + line_ns;
    waiting_.push_back({*iova, line_free_});
  }
  /// The CPU's idle time; the flush timer's callback runs on the same CPU.
  void wait_for_completion() {
    while (true) {
      map_.on_timer(0, P::now_ns());
      const std::uint64_t now = P::now_ns();
      if (now >= waiting_.front().done_at) return;
      std::uint64_t until = waiting_.front().done_at;
      const std::uint64_t timer = map_.deferred_ranges().timer_deadline();
      if (timer > now) until = std::min(until, timer);
      around_.pass(until - now, true);
    }
  }

  const std::uint64_t buffer_bytes;
  const std::uint64_t cpu_ns;
  const std::uint64_t line_ns;
  const scenario times_;
  model::signal_tables tables_;
  world around_;
  model::safe_gate gate_;
  std::unique_ptr<fixed_memory<P, log2_ring>> ring_ = std::make_unique<fixed_memory<P, log2_ring>>();
  hardware device_;
  std::unique_ptr<queue_type> queue_;
  std::vector<std::byte> bytes_;
  dma::arena memory_;
  invalidator_type invalidator_;
  dma::mapper<P, invalidator_type> map_;
  std::deque<buffer> waiting_;
  std::uint64_t line_free_ = 0;
};

constexpr std::uint64_t simulated_ns = 400'000'000;

double simulate(const parameters& p, const setup& how, bool send, std::uint64_t max_delay_ns) {
  const double buffers = p[send ? "safe.send_buffers" : "safe.receive_buffers"];
  return machine(p, how, max_delay_ns).throughput(static_cast<unsigned>(buffers), simulated_ns);
}

double buffer_time_ns(const parameters& p, double mbit) { return p["safe.buffer_kib"] * 1024 * 8 * 1000 / mbit; }

/// The one fit: the maximum delay of the gate, so that one published cell comes out.
std::uint64_t fit_max_delay(const parameters& p, const published_row& row) {
  const double target_ns = buffer_time_ns(p, row.mbit[0]);
  double delay = static_cast<double>(model::find_display_soc("sc8280xp")->max_delay_ns);
  for (int i = 0; i < 3; ++i) {
    const double own = simulate(p, setups[0], row.send, static_cast<std::uint64_t>(delay));
    delay = std::max(delay + target_ns - buffer_time_ns(p, own), 0.0);
  }
  return static_cast<std::uint64_t>(delay);
}

figure cell(const parameters& p, const published_row& row, std::size_t column, std::uint64_t max_delay) {
  const double scale = row.mib ? 1e6 / 8 / (1 << 20) : 1.0;
  const double own = simulate(p, setups[column], row.send, max_delay);
  const double line = p["safe.line_mbit"] * scale;
  const double fitted = rows[0].mbit[0] * scale;
  figure f{fmt::format("{}, {}", row.name, setup_names[column]), row.mib ? "MB/s" : "Mbit/s", row.mbit[column],
           row.mbit[column], own * scale};
  f.nulls = {{"the line's rate", line},
             {"as the fitted cell", fitted},
             {"fitted cell where strict and missing, else the line", column == 0 ? fitted : line}};
  if (&row == &rows[0] && column == 0) {
    f.how = origin::fitted;
    f.nulls.clear();
    f.note = "by the gate's maximum delay";
  } else if (row.send && column == 2) {
    f.note = fmt::format("needs {:.0f} us more CPU time per buffer than lazy unmapping: nothing here takes that long",
                         (buffer_time_ns(p, row.mbit[column] / scale) - buffer_time_ns(p, own)) / 1000);
  }
  return f;
}

/// What was published of single syncs, as the longest unmap of the receiving run.
figure sync_time(const parameters& p, bool table_set, std::uint64_t max_delay) {
  machine m(p, {false, table_set}, max_delay);
  m.throughput(static_cast<unsigned>(p["safe.receive_buffers"]), simulated_ns / 10);
  figure f{table_set ? "sync, table set" : "sync, table missing", "us", table_set ? 0.0 : 1000, table_set ? 10.0 : 2000,
           static_cast<double>(m.longest_unmap_ns) / 1000};
  if (table_set)
    f.nulls = {{"never waits", (p["display.invalidation_ns"] + p["safe.sync_ns"]) / 1000}, {"half of 10 us", 5}};
  else
    f.nulls = {{"a buffer's time in the fitted cell", buffer_time_ns(p, rows[0].mbit[0]) / 1000}};
  return f;
}

}  // namespace

reproduction reproduce_safe(const reproduce_input& in) {
  const parameters& p = in.p;
  const bool given = p["safe.max_delay_us"] > 0;
  const std::uint64_t max_delay =
      given ? static_cast<std::uint64_t>(p["safe.max_delay_us"] * 1000) : fit_max_delay(p, rows[0]);
  reproduction r;
  if (!given) r.fits.emplace_back("safe.max_delay_us", static_cast<double>(max_delay) / 1000);
  for (const published_row& row : rows)
    for (std::size_t column = 0; column < 4; ++column) r.figures.push_back(cell(p, row, column, max_delay));
  for (const bool set : {false, true}) r.figures.push_back(sync_time(p, set, max_delay));
  r.json["fitted"] = {{"max_delay_us", static_cast<double>(max_delay) / 1000}};
  add_figures(r, "USB Ethernet on SC8280XP");
  add_paragraph(r, fmt::format("Fitted: the gate's maximum delay, {:.2f} ms, from one cell. 9 of the 16 cells are the "
                               "line's rate within 2 %: no model can be better than that guess there. scp's MB are "
                               "2^20 bytes.",
                               static_cast<double>(max_delay) / 1e6));
  return r;
}

}  // namespace cmdq::cli

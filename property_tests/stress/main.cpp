// SPDX-License-Identifier: BSL-1.0
// Real threads, more than there are processors, on a device that is done at once: whose calls end with a time-out? With
// --holds a random thread is held in a signal handler, wherever it is, and the others' latencies are shown.
// Exit codes: 0 nothing was lost, repeated or reordered; 1 something was; 2 bad usage.
#include <CLI/CLI.hpp>
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/cmdq.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/smmuv3/commands.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/resource.h>

namespace {

using cmdq::status;
using platform = cmdq::default_config::platform;

struct settings {
  unsigned threads = std::max(2U, 2 * std::thread::hardware_concurrency());
  double seconds = 60;
  double deadline_ms = 5;
  unsigned holds = 0;
  double hold_ms = 1000;
  unsigned log2_size = 10;
  std::uint64_t seed = 1;
};

template <class Allocation>
struct config : cmdq::default_config {
  using allocation = Allocation;
};

/// Latencies in buckets of an eighth of a power of two.
class histogram {
 public:
  void add(std::uint64_t ns) { ++count_[bucket(ns)]; }
  void add(const histogram& other) {
    for (unsigned i = 0; i < buckets; ++i) count_[i] += other.count_[i];
  }
  /// Upper end of the bucket below which `share` of all lie, in ns; 0 without any.
  [[nodiscard]] std::uint64_t at(double share) const {
    std::uint64_t all = 0;
    for (const std::uint64_t c : count_) all += c;
    std::uint64_t wanted = static_cast<std::uint64_t>(share * static_cast<double>(all));
    for (unsigned i = 0; i < buckets && all != 0; ++i) {
      if (count_[i] > wanted) return upper(i);
      wanted -= count_[i];
    }
    return all == 0 ? 0 : upper(buckets - 1);
  }

 private:
  static constexpr unsigned buckets = 8 * 62;
  static unsigned bucket(std::uint64_t ns) {
    if (ns < 8) return static_cast<unsigned>(ns);
    const auto top = static_cast<unsigned>(std::bit_width(ns)) - 1;
    return std::min(buckets - 1, 8 * (top - 2) + static_cast<unsigned>(ns >> (top - 3) & 7U));
  }
  static std::uint64_t upper(unsigned i) {
    if (i < 8) return i + 1;
    return (std::uint64_t{8} + i % 8 + 1) << (i / 8 - 1);
  }
  std::uint64_t count_[buckets] = {};
};

/// What the device executed of each producer: numbers that only grow. One command at a time (device_drive::in_write).
struct checked_order : cmdq::model::null_hooks {
  struct of_one {
    std::uint64_t last = 0;
    std::uint64_t count = 0;
    std::uint64_t wrong = 0;
  };
  of_one* of = nullptr;
  void executed(cmdq::position, const cmdq::command& c, std::uint64_t) noexcept {
    if (cmdq::opcode_of(c.word[0]) == cmdq::opcode_sync) return;
    of_one& one = of[c.word[0] >> 48];  // its ASID
    const std::uint64_t number = c.word[1] >> 12;
    one.wrong += number <= one.last ? 1U : 0U;
    one.last = number;
    ++one.count;
  }
};

struct alignas(64) tally {
  std::uint64_t calls = 0;
  std::uint64_t inserted = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t timeouts_on_cpu = 0;  ///< the caller was on its processor all the time
  std::uint64_t stalled = 0;
  std::uint64_t other = 0;
  std::uint64_t longest_ns = 0;
  histogram latency;
  std::atomic<bool> held{false};  ///< since the last call began
  pthread_t id{};
};

thread_local tally* mine = nullptr;
std::atomic<std::uint64_t> hold_ns{0};

void hold(int) {
  mine->held = true;
  timespec left{static_cast<time_t>(hold_ns / 1'000'000'000), static_cast<long>(hold_ns % 1'000'000'000)};
  while (nanosleep(&left, &left) != 0) {
  }
}

std::uint64_t switches() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return static_cast<std::uint64_t>(used.ru_nivcsw + used.ru_nvcsw);
}

template <class Allocation>
class stress {
  using device = cmdq::model::hardware<platform, cmdq::ring_entry<platform>, checked_order>;
  using queue_type = cmdq::command_queue<device, config<Allocation>>;
  using memory = cmdq::fixed_memory<platform, cmdq::max_log2_size, cmdq::max_producers>;

 public:
  explicit stress(const settings& s)
      : s_(s), executed_(s.threads), tallies_(s.threads), device_(cmdq::model::device_drive::in_write, {}, hooks()) {}

  nlohmann::ordered_json run() {
    const auto memory_of_queue = std::make_unique<memory>();
    auto m = memory_of_queue->memory();
    cmdq::options o{.batch_limit = 3, .producers = s_.threads};
    o.log2_size = s_.log2_size;
    o.deadline_ns = static_cast<std::uint64_t>(s_.deadline_ms * 1e6);
    const auto plan = cmdq::make_plan<config<Allocation>>(o, m);
    if (!plan)
      throw std::runtime_error(std::string(name(plan.why().code)) + ": " + plan.why().field + " is " +
                               std::to_string(plan.why().value) + ", limit " + std::to_string(plan.why().limit));
    if (device_.attach(m.entries, s_.log2_size, m.device_address) != status::ok) throw std::runtime_error("attach");
    queue_type queue(*plan, device_);
    hold_ns = static_cast<std::uint64_t>(s_.hold_ms * 1e6);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < s_.threads; ++i) threads.emplace_back([&, i] { work(queue, i); });
    while (ready_ != s_.threads) std::this_thread::yield();
    disturb();
    stop_ = true;
    for (auto& t : threads) t.join();
    return report();
  }

 private:
  checked_order hooks() {
    checked_order h;
    h.of = executed_.data();
    return h;
  }

  void disturb() {
    std::mt19937_64 random(s_.seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(s_.seconds);
    for (unsigned k = 0; k < s_.holds; ++k) {
      std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 4000));
      pthread_kill(tallies_[random() % s_.threads].id, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::nanoseconds(hold_ns.load()));
      if (k % 16 == 15) std::cerr << "\rholds " << k + 1 << " of " << s_.holds << std::flush;
    }
    if (s_.holds >= 16) std::cerr << '\n';
    std::this_thread::sleep_until(end);
  }

  void work(queue_type& queue, unsigned me) {
    tally& t = tallies_[me];
    mine = &t;
    t.id = pthread_self();
    typename queue_type::producer by;
    if (queue.attach(by) != status::ok) std::terminate();
    ++ready_;
    std::uint64_t number = 1;
    while (!stop_) {
      cmdq::command list[3];
      const auto n = static_cast<std::uint32_t>(1 + number % 3);
      for (auto& c : list) c = *encode(cmdq::smmuv3::tlbi_nh_va{.asid = me, .leaf = true, .addr = number++ << 12});
      t.held = false;
      const std::uint64_t switched = switches();
      const std::uint64_t began = platform::now_ns();
      const cmdq::outcome o = by.issue(list, n);
      const std::uint64_t took = platform::now_ns() - began;
      count(t, o, took, switched == switches());
    }
    cmdq::command last = *encode(cmdq::smmuv3::tlbi_nh_va{.asid = me, .leaf = true, .addr = number << 12});
    for (;;) {  // what it owes is settled
      const cmdq::outcome o = by.issue_for(&last, 1, cmdq::no_deadline);
      t.inserted += o.inserted;
      if (o.code == status::ok) break;
      last = *encode(cmdq::smmuv3::tlbi_nh_va{.asid = me, .leaf = true, .addr = ++number << 12});
    }
  }

  static void count(tally& t, const cmdq::outcome& o, std::uint64_t took, bool on_cpu) {
    ++t.calls;
    t.inserted += o.inserted;
    if (o.code == status::timeout) {
      ++t.timeouts;
      t.timeouts_on_cpu += on_cpu ? 1U : 0U;
    } else if (o.code == status::stalled) {
      ++t.stalled;
    } else if (o.code != status::ok) {
      ++t.other;
    }
    if (t.held) return;
    t.latency.add(took);
    t.longest_ns = std::max(t.longest_ns, took);
  }

  nlohmann::ordered_json report() const {
    std::map<std::string, std::uint64_t> sum;
    histogram all;
    std::uint64_t longest = 0;
    for (unsigned i = 0; i < s_.threads; ++i) {
      const tally& t = tallies_[i];
      sum["calls"] += t.calls;
      sum["timeouts"] += t.timeouts;
      sum["timeouts_on_cpu"] += t.timeouts_on_cpu;
      sum["stalled"] += t.stalled;
      sum["other"] += t.other;
      sum["lost"] += t.inserted > executed_[i].count ? t.inserted - executed_[i].count : 0;
      sum["repeated"] += executed_[i].count > t.inserted ? executed_[i].count - t.inserted : 0;
      sum["reordered"] += executed_[i].wrong;
      all.add(t.latency);
      longest = std::max(longest, t.longest_ns);
    }
    nlohmann::ordered_json out = {{"threads", s_.threads}, {"processors", std::thread::hardware_concurrency()},
                                  {"seconds", s_.seconds}, {"deadline_ms", s_.deadline_ms},
                                  {"holds", s_.holds},     {"hold_ms", s_.hold_ms}};
    for (const char* key :
         {"calls", "timeouts", "timeouts_on_cpu", "stalled", "other", "lost", "repeated", "reordered"})
      out[key] = sum[key];
    out["p50_ns"] = all.at(0.5);
    out["p99_ns"] = all.at(0.99);
    out["p999_ns"] = all.at(0.999);
    out["longest_ns"] = longest;
    return out;
  }

  settings s_;
  std::vector<checked_order::of_one> executed_;
  std::vector<tally> tallies_;
  device device_;
  std::atomic<unsigned> ready_{0};
  std::atomic<bool> stop_{false};
};

using runner = nlohmann::ordered_json (*)(const settings&);
template <class Allocation>
nlohmann::ordered_json run_with(const settings& s) {
  return std::make_unique<stress<Allocation>>(s)->run();
}
const std::map<std::string, runner> strategies = {
#define CMDQ_ONE(name, locked) {#name, run_with<cmdq::allocation::name>},
    CMDQ_FOR_EACH_STRATEGY(CMDQ_ONE)
#undef CMDQ_ONE
};

int run(const settings& s, const std::string& strategy, const std::string& json) {
  std::ofstream file;
  if (!json.empty()) {
    file.open(json);
    if (!file) throw std::runtime_error(json + " cannot be written");
  }
  struct sigaction action = {};
  action.sa_handler = hold;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  nlohmann::ordered_json out = {{"strategy", strategy}};
  out.update(strategies.at(strategy)(s));
  std::cout << out.dump(2) << '\n';
  if (file.is_open() && !(file << out.dump(2) << '\n' << std::flush))
    throw std::runtime_error(json + " could not be written");
  return out["lost"] == 0 && out["repeated"] == 0 && out["reordered"] == 0 && out["other"] == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Threads issue lists to a device that is done at once. Prints how many calls timed out, how many of those were "
      "on their processor all the time, and latencies of calls that were not held.\nExit codes: 0 nothing was lost, "
      "repeated or reordered, 1 something was, 2 bad usage.");
  settings s;
  std::string strategy = "combining";
  std::string json;
  std::vector<std::string> names;
  for (const auto& [name, unused] : strategies) names.push_back(name);
  app.add_option("--threads", s.threads, "Threads; twice the processors unless given")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  app.add_option("--seconds", s.seconds, "Length; longer where the holds take longer")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  app.add_option("--deadline-ms", s.deadline_ms, "Budget of a call")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--holds", s.holds, "How often a random thread is held")
      ->check(CLI::Range(0U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--hold-ms", s.hold_ms, "For how long")->check(CLI::Range(0.001, 60'000.0))->capture_default_str();
  app.add_option("--strategy", strategy, "Allocation strategy")->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--log2", s.log2_size, "Ring of 2^LOG2 entries")->check(CLI::Range(2U, 19U))->capture_default_str();
  app.add_option("--seed", s.seed, "Of who is held")->capture_default_str();
  app.add_option("--json", json, "Write the result there, too");
  try {
    app.parse(argc, argv);
    return run(s, strategy, json);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::cerr << "cmdq-stress: " << e.what() << '\n';
    return 2;
  }
}

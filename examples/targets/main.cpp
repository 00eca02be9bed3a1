// SPDX-License-Identifier: BSL-1.0
// The queue on another processor: threads, a modelled device, and the barriers that a real device would need there.
// Built by a cross compiler and run by a user-mode emulator.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/platform/hosted.hpp>
#include <cmdq/platform/mmio.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/smmuv3/commands.hpp>
#include <cmdq/wait/spin_then_yield.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr unsigned threads = 4;
constexpr int calls = 250;
constexpr std::uint64_t patience_ns = 3'600'000'000'000;

/// What a freestanding program takes, with a clock and threads that can give way.
struct hooks : cmdq::platform::default_hooks {
  static std::uint64_t now_ns() noexcept { return cmdq::platform::hosted::now_ns(); }
  static void yield() noexcept { std::this_thread::yield(); }
};
using platform = cmdq::platform::builtins_with<hooks>;
using model = cmdq::model::hardware<platform, cmdq::ring_entry<platform>>;

/// The model behind the barriers of this processor, as smmuv3::device has them.
struct device {
  model& m;
  using barriers = cmdq::platform::io_barriers;
  void write_prod(std::uint32_t v) noexcept {
    barriers::before_write();
    m.write_prod(v);
  }
  std::uint32_t read_cons() noexcept {
    const std::uint32_t v = m.read_cons();
    barriers::after_read();
    return v;
  }
  std::uint32_t read_gerror() noexcept { return m.read_gerror(); }
  std::uint32_t read_gerrorn() noexcept { return m.read_gerrorn(); }
  void write_gerrorn(std::uint32_t v) noexcept { m.write_gerrorn(v); }
};

template <class Allocation, class Completion>
struct config : cmdq::freestanding_config {
  using platform = ::platform;
  using wait = cmdq::wait::spin_then_yield;
  using allocation = Allocation;
  using completion = Completion;
};

template <class Config>
bool run(const char* what) {
  static cmdq::fixed_memory<platform, 8, threads> memory;
  model hardware(cmdq::model::device_drive::in_write);
  const cmdq::ring_memory<platform> m = memory.memory();
  if (hardware.attach(m.entries, 8, m.device_address) != cmdq::status::ok) return false;
  const auto plan =
      cmdq::make_plan<Config>({.log2_size = 8, .batch_limit = 7, .producers = threads, .deadline_ns = patience_ns}, m);
  if (!plan) return false;
  device d{hardware};
  cmdq::command_queue<device, Config> queue(*plan, d);
  std::atomic<unsigned> done{0};
  std::vector<std::thread> all;
  for (unsigned asid = 0; asid < threads; ++asid)
    all.emplace_back([&queue, &done, asid] {
      typename decltype(queue)::producer me;
      if (queue.attach(me) != cmdq::status::ok) return;
      const auto tlbi = encode(cmdq::smmuv3::tlbi_nh_va{.asid = asid, .leaf = true, .addr = 0x1000});
      for (int i = 0; i < calls; ++i) done += me.issue(&*tlbi, 1).done;
    });
  for (std::thread& t : all) t.join();
  std::printf("%s: %u of %u\n", what, done.load(), threads * calls);
  return done == threads * calls;
}

}  // namespace

int main() {
  bool ok = true;
#define CMDQ_RUN(name, locked)                                                                      \
  ok = run<config<cmdq::allocation::name, cmdq::completion::poll_cons>>(#name ", poll_cons") && ok; \
  ok = run<config<cmdq::allocation::name, cmdq::completion::poll_msi>>(#name ", poll_msi") && ok;
  CMDQ_FOR_EACH_STRATEGY(CMDQ_RUN)
  std::puts(ok ? "targets: ok" : "targets: failed");
  return ok ? 0 : 1;
}

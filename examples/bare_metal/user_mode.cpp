// SPDX-License-Identifier: BSL-1.0
// The AArch64 platform above an operating system: threads, the queue, and the modelled device in place of a real one.
// Built by the cross compiler, run by QEMU's user-mode emulation.
#include <cmdq/model/hardware.hpp>
#include <cmdq/platform/aarch64.hpp>
#include <cmdq/platform/std_atomic.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/wait/spin_then_yield.hpp>
#include <cmdq/wait/wfe.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

namespace aarch64 = cmdq::platform::aarch64;

constexpr uint32_t threads = 4;
constexpr uint32_t lists = 300;
constexpr uint32_t log2_size = 5;

template <class Platform, class Wait>
struct config : cmdq::freestanding_config {
  using platform = Platform;
  using wait = Wait;
};

template <class Platform, class Wait>
bool run(const char* name) {
  using entry = cmdq::ring_entry<Platform>;
  std::vector<cmdq::model::record> kept(threads * lists * 4);
  cmdq::model::recording log(kept.data(), static_cast<uint32_t>(kept.size()));
  using device_type = cmdq::model::hardware<Platform, entry, cmdq::model::recording_hooks>;
  device_type device(cmdq::model::device_drive::in_write, {}, cmdq::model::recording_hooks(log));
  const auto memory = std::make_unique<cmdq::fixed_memory<Platform, log2_size, threads>>();
  constexpr uint64_t base = 0x10000;
  const auto plan = cmdq::make_plan<config<Platform, Wait>>(
      {.log2_size = log2_size, .batch_limit = 3, .producers = threads, .deadline_ns = cmdq::no_deadline},
      memory->at_device_address(base));
  if (!plan || device.attach(memory->memory().entries, log2_size, base) != cmdq::status::ok) return false;
  cmdq::command_queue<device_type, config<Platform, Wait>> queue(*plan, device);
  std::vector<std::thread> crew;
  std::vector<unsigned> wrong(threads);
  for (uint32_t t = 0; t < threads; ++t) {
    crew.emplace_back([&, t] {
      typename decltype(queue)::producer producer;
      wrong[t] += queue.attach(producer) != cmdq::status::ok;
      for (uint32_t i = 0; i < lists; ++i) {
        const cmdq::command c{{0x11 | uint64_t{t} << 48 | uint64_t{i} << 32, 0}};  // TLBI_NH_ASID, VMID = number
        wrong[t] += !(i % 4 == 0 ? producer.insert(&c, 1) : producer.issue(&c, 1)).ok();
      }
      wrong[t] += !producer.issue(nullptr, 0).ok();
    });
  }
  for (std::thread& t : crew) t.join();
  unsigned bad = 0;
  for (const unsigned w : wrong) bad += w;
  uint32_t next[threads] = {};
  for (uint32_t i = 0; i < log.kept(); ++i) {
    const uint64_t word = log[i].what.word[0];
    if (cmdq::opcode_of(word) == cmdq::opcode_sync) continue;
    bad += next[word >> 48]++ != ((word >> 32) & 0xffffU);
  }
  for (const uint32_t n : next) bad += n != lists;
  std::printf("%-28s %u threads, %u lists each: %s\n", name, threads, lists, bad == 0 ? "ok" : "failed");
  return bad == 0;
}

/// The generic timer as nanoseconds against the system's clock, which is read on both sides of each reading: what the
/// host does in between only widens the bounds.
bool clock_agrees() {
  using clock = std::chrono::steady_clock;
  const auto ns = [](clock::time_point from, clock::time_point to) {
    return std::chrono::duration<double, std::nano>(to - from).count();
  };
  const auto before = clock::now();
  const uint64_t start = aarch64::user_mode::now_ns();
  const auto begun = clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto ending = clock::now();
  const auto ours = static_cast<double>(aarch64::user_mode::now_ns() - start);
  const auto after = clock::now();
  const bool ok = ours > 0.8 * ns(begun, ending) && ours < 1.2 * ns(before, after);
  std::printf("clock: %.0f us, system %.0f to %.0f us: %s\n", ours / 1e3, ns(begun, ending) / 1e3,
              ns(before, after) / 1e3, ok ? "ok" : "failed");
  return ok;
}

}  // namespace

int main() {
  bool ok = clock_agrees();
  ok = run<aarch64::user_mode, cmdq::wait::spin>("user_mode, spin") && ok;
  ok = run<aarch64::user_mode, cmdq::wait::wfe>("user_mode, wfe") && ok;
  ok = run<cmdq::platform::std_atomic, cmdq::wait::spin_then_yield>("std_atomic, spin_then_yield") && ok;
  return ok ? 0 : 1;
}

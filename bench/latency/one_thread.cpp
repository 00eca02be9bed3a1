// SPDX-License-Identifier: BSL-1.0
#include "one_thread.hpp"

#include <benchmark/benchmark.h>

#include <string>

#include "../devices.hpp"

namespace bench {
namespace {

template <class Allocation, class Completion>
struct config : cmdq::default_config {
  using allocation = Allocation;
  using completion = Completion;
};

template <class Config, bool Sync>
void insert(benchmark::State& state, void (*failed)(const char*)) {
  const auto storage = std::make_unique<ring_storage>();
  device dev(storage->memory().entries, 1, {});
  cmdq::options o;
  o.log2_size = ring_log2;
  o.producers = 1;
  const auto plan = cmdq::make_plan<Config>(o, storage->memory());
  cmdq::command_queue<device, Config> queue(*plan, dev);
  typename cmdq::command_queue<device, Config>::producer me;
  std::vector<cmdq::command> list(static_cast<std::size_t>(state.range(0)));
  const auto n = static_cast<std::uint32_t>(list.size());
  bool good = plan.ok() && queue.attach(me) == cmdq::status::ok;
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    for (auto& c : list) c = tagged(0, sequence++);
    const cmdq::outcome done = Sync ? me.issue(list.data(), n) : me.insert(list.data(), n);
    good = good && done.ok();
  }
  if (good && dev.done().wrong() == 0 && dev.done().executed(0) == sequence) return;
  failed("one_thread: commands failed, lost or doubled");
  state.SkipWithError("commands failed, lost or doubled");
}

template <class Allocation, class Completion>
void add(const char* strategy, const char* completion, void (*failed)(const char*)) {
  using c = config<Allocation, Completion>;
  const std::string tail = std::string("/") + strategy + "/" + completion + "/list";
  benchmark::RegisterBenchmark(("one_thread/insert" + tail).c_str(), &insert<c, false>, failed)->Arg(1)->Arg(16);
  benchmark::RegisterBenchmark(("one_thread/insert_sync" + tail).c_str(), &insert<c, true>, failed)->Arg(1)->Arg(16);
}

}  // namespace

void register_one_thread(void (*failed)(const char* what)) {
  using namespace cmdq;
  add<allocation::cmpxchg_loop, completion::poll_cons>("cmpxchg_loop", "cons", failed);
  add<allocation::cmpxchg_loop, completion::poll_msi>("cmpxchg_loop", "msi", failed);
  add<allocation::owner_bits, completion::poll_cons>("owner_bits", "cons", failed);
  add<allocation::owner_bits, completion::poll_msi>("owner_bits", "msi", failed);
  add<allocation::combining, completion::poll_cons>("combining", "cons", failed);
  add<allocation::combining, completion::poll_msi>("combining", "msi", failed);
}

}  // namespace bench

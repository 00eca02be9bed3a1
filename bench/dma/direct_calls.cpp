// SPDX-License-Identifier: BSL-1.0
// One map and one unmap that do nothing, reached in five ways, with and without retpolines: what remains is the call.
#include <benchmark/benchmark.h>

#include <string>

#include "kernel.hpp"

namespace {

using namespace cmdq::direct_calls;

void call(benchmark::State& state, run_packets run, reach how) {
  constexpr std::uint64_t packets = 1000;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(run(how, {1, 0, 0}, packets));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(packets));
}

[[maybe_unused]] const int registered = [] {
  const struct {
    const char* name;
    reach how;
  } ways[] = {{"static", reach::statically},
              {"function_pointer", reach::function_pointer},
              {"virtual", reach::virtually},
              {"handle_common", reach::handle},
              {"handle_other", reach::handle_other}};
  for (const auto& w : ways) {
    benchmark::RegisterBenchmark((std::string("call/") + w.name).c_str(), call, plain_packets, w.how);
    if constexpr (has_retpoline) {
      benchmark::RegisterBenchmark((std::string("call_retpoline/") + w.name).c_str(), call, with_retpoline, w.how);
    }
  }
  return 0;
}();

}  // namespace

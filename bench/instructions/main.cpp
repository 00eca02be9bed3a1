// SPDX-License-Identifier: BSL-1.0
// cmdq-insert STRATEGY COMPLETION insert|insert_sync ROUNDS: for scripts/instructions, which runs it under callgrind
// with two numbers of rounds. Without arguments: lists the strategies and completions. Exit codes: 0, 1 an insertion
// failed, 2.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "work.hpp"

namespace {

using bench::instructions::config;
using bench::instructions::insert;

struct kind {
  const char* strategy;
  const char* completion;
  bool (*run)(long rounds, bool sync);
};

using namespace cmdq;
constexpr kind kinds[] = {
    {"cmpxchg_loop", "cons", &insert<config<allocation::cmpxchg_loop, completion::poll_cons>>},
    {"cmpxchg_loop", "msi", &insert<config<allocation::cmpxchg_loop, completion::poll_msi>>},
    {"owner_bits", "cons", &insert<config<allocation::owner_bits, completion::poll_cons>>},
    {"owner_bits", "msi", &insert<config<allocation::owner_bits, completion::poll_msi>>},
    {"combining", "cons", &insert<config<allocation::combining, completion::poll_cons>>},
    {"combining", "msi", &insert<config<allocation::combining, completion::poll_msi>>},
    {"delegated", "cons", &insert<config<allocation::delegated, completion::poll_cons>>},
    {"delegated", "msi", &insert<config<allocation::delegated, completion::poll_msi>>},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    for (const kind& k : kinds) std::printf("%s %s\n", k.strategy, k.completion);
    return 0;
  }
  if (argc != 5) return 2;
  const std::string_view strategy = argv[1], completion = argv[2], operation = argv[3];
  const long rounds = std::atol(argv[4]);
  if (rounds <= 0 || (operation != "insert" && operation != "insert_sync")) return 2;
  for (const kind& k : kinds)
    if (strategy == k.strategy && completion == k.completion) return k.run(rounds, operation == "insert_sync") ? 0 : 1;
  return 2;
}

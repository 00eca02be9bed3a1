// SPDX-License-Identifier: BSL-1.0
// dma_soak --threads N --seconds S: half the time strict, half lazy, with interrupts, untrusted devices, power cycles
// and teardown, and a device that translates and writes all the while.
// Exit codes: 0 clean, 1 a violation, 2 bad input.
#include <charconv>
#include <cstdio>
#include <cstring>

#include "dma/soak.hpp"

namespace {

using namespace cmdq;

/// 0 when `text` is not a number in 1..limit.
unsigned number(const char* text, unsigned limit) {
  unsigned n = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, n);
  return error == std::errc{} && stop == end && n <= limit ? n : 0;
}

bool run(const char* what, unsigned threads, unsigned half_seconds, bool lazy) {
  test::soak soak(threads, lazy);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500) * half_seconds;
  const test::soak_result r = soak.run(end, 1);
  const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf(
      "%s, %u threads: %llu pairs, %llu interrupts, %llu TLBIs, %llu flushes, %llu translations, "
      "%llu pages written, %llu drains, %llu teardowns\n",
      what, threads, n(r.pairs), n(r.interrupts), n(r.tlbi), n(r.flushes), n(r.hits), n(r.writes), n(r.drains),
      n(r.teardowns));
  std::printf(
      "  stale %llu, reached after unmap %llu, bytes changed beside or after %llu, leaked pages %llu, lost %llu, "
      "refused %llu, no space %llu: %s\n",
      n(r.stale), n(r.dead), n(r.changed), n(r.leaked), n(r.lost), n(r.refused), n(r.full),
      r.clean() ? "clean" : "NOT CLEAN");
  std::fflush(stdout);
  return r.clean();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr unsigned most_threads = 128;
  constexpr unsigned most_seconds = 86400;
  unsigned threads = 32;
  unsigned seconds = 10;
  for (int i = 1; i < argc; i += 2) {
    const bool is_threads = std::strcmp(argv[i], "--threads") == 0;
    if (i + 1 == argc || (!is_threads && std::strcmp(argv[i], "--seconds") != 0)) {
      std::fprintf(stderr, "usage: dma_soak [--threads 1..%u] [--seconds 1..%u]\n", most_threads, most_seconds);
      return 2;
    }
    const unsigned limit = is_threads ? most_threads : most_seconds;
    const unsigned n = number(argv[i + 1], limit);
    if (n == 0) {
      std::fprintf(stderr, "dma_soak: %s %s: must be a number from 1 to %u\n", argv[i], argv[i + 1], limit);
      return 2;
    }
    (is_threads ? threads : seconds) = n;
  }
  const bool strict = run("strict", threads, seconds, false);
  const bool lazy = run("lazy", threads, seconds, true);
  return strict && lazy ? 0 : 1;
}

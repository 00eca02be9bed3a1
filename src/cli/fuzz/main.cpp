// SPDX-License-Identifier: BSL-1.0
// Runs a target on files, without libFuzzer: the corpus as a test. Exit codes: 0 all taken or refused, 2 no file given
// or one that cannot be read.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "fuzz/target.hpp"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 2;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  return argc > 1 ? 0 : 2;
}

// SPDX-License-Identifier: BSL-1.0
// A fuzz target: one input, to be refused with an input_error or taken. Anything else is a defect and ends the program.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// What libFuzzer and main.cpp call.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cmdq::cli {

inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: not so: %s\n", what);
  std::abort();
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace cmdq::cli

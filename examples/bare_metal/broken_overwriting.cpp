// SPDX-License-Identifier: BSL-1.0
#include "broken.hpp"
#include "restless.hpp"

int main() {
  using namespace producers;
  return run_broken<restless, cmpxchg_loop_on<overwriting>>("overwriting");
}

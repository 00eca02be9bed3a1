// SPDX-License-Identifier: BSL-1.0
#include "broken.hpp"

int main() { return producers::run_broken<producers::overwriting>("overwriting"); }

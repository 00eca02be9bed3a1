// SPDX-License-Identifier: BSL-1.0
// The same with CPUs that give way to each other in the middle of everything.
#include "restless.hpp"
#include "strategies.hpp"

int main() { return producers::run_all<producers::restless>(1000); }

// SPDX-License-Identifier: BSL-1.0
// As a driver would run it.
#include "strategies.hpp"

int main() { return producers::run_all<producers::bare_metal>(1000); }

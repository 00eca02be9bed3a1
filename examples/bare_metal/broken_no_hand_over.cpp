// SPDX-License-Identifier: BSL-1.0
#include "broken.hpp"

int main() { return producers::run_broken<producers::no_hand_over>("no_hand_over"); }

// SPDX-License-Identifier: BSL-1.0
#include "../board/board.hpp"

extern "C" void board_print(const char* text) { board::print(text); }

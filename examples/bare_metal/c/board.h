/* SPDX-License-Identifier: BSL-1.0 */
/* What a C program needs of the board; board_for_c.cpp gives it. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define BOARD_SMMU ((void*)0x09050000)

void board_print(const char* text);

#endif

#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# clang-tidy over the headers, through the programs that use all of the queue. tidy.sh ROOT CLANG_TIDY
set -eu
cd "$1"
"$2" --quiet scripts/checks/freestanding.cpp -- -std=c++20 -Iinclude -ffreestanding -fno-exceptions -fno-rtti
"$2" --quiet examples/hosted/main.cpp -- -std=c++20 -Iinclude
echo "tidy"

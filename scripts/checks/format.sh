#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Every C++ source is as clang-format leaves it. format.sh ROOT CLANG_FORMAT
set -eu
cd "$1"
find include src property_tests model_checks bench examples scripts -name '*.hpp' -o -name '*.cpp' -o -name '*.c' -o -name '*.h' | sort |
  xargs "$2" --dry-run -Werror
echo "formatted"

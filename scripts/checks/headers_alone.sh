#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles each header of include/cmdq alone, with all warnings as errors. headers_alone.sh ROOT COMPILER
set -eu
self=$(realpath "$0")
root=$1
compiler=$2
cd "$root/include"
try() {
  printf '#include <%s>\n' "$2" |
    "$1" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -x c++ - ||
    { echo "$2 does not compile alone with $1"; return 1; }
}
if [ $# -eq 3 ]; then # one header, called by xargs below
  try "$compiler" "$3"
  exit
fi
headers=$(find cmdq -name '*.hpp' | sort)
case $("$compiler" -dumpmachine) in
  aarch64*) ;;
  *) headers=$(echo "$headers" | grep -v platform/aarch64.hpp) ;; # the bare-metal images compile it
esac
echo "$headers" | xargs -P 2 -n 1 sh "$self" "$root" "$compiler"
echo "$(echo "$headers" | wc -l) headers compile alone with $compiler"

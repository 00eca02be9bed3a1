#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles the freestanding part with no library in reach: no C++ headers, no libc headers, no exceptions, no RTTI; and
# looks at what the object needs from outside. freestanding.sh ROOT COMPILER
set -eu
root=$1
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -nostdinc takes away every system folder; the compiler's own (stdint.h, stddef.h) is given back.
own=$("$compiler" -print-file-name=include)
[ -e "$own/stdint.h" ] || own=$("$compiler" -print-resource-dir)/include
flags="-std=c++20 -O2 -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics -nostdinc -nostdinc++
  -isystem $own -I$root/include -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

# shellcheck disable=SC2086
compile() { "$compiler" $flags "$@"; }

compile -c "$root/scripts/checks/freestanding.cpp" -o "$work/all.o"
outside=$(compile -M "$root/scripts/checks/freestanding.cpp" | tr ' \\' '\n\n' | grep '\.h' |
  grep -v -e "^$root/include/cmdq/" -e "^$own/" || true)
[ -z "$outside" ] || { echo "headers from outside: $outside"; exit 1; }

# A freestanding compiler may call these four by itself; the last three are the test's own.
needs=$(nm -u "$work/all.o" | awk '{print $2}' |
  grep -v -x -e memcpy -e memmove -e memset -e memcmp -e read_register -e write_register \
    -e write_console || true)
[ -z "$needs" ] || { echo "needs from outside: $needs"; exit 1; }

# Every header of these parts alone, without a library.
cd "$root/include"
others='platform/(hosted|hosted_signals|hosted_processes|boost_atomic|std_atomic|aarch64)' # aarch64: compiled by the bare-metal images
for header in $(find cmdq/core cmdq/platform cmdq/wait cmdq/locks cmdq/stats cmdq/reclaim cmdq/allocation \
  cmdq/completion cmdq/queue cmdq/smmuv3 cmdq/vtd cmdq/amdvi cmdq/riscv cmdq/model cmdq/dma -name '*.hpp' | grep -v -E "$others" | sort); do
  printf '#include <%s>\n' "$header" | compile -fsyntax-only -x c++ - || { echo "$header needs a library"; exit 1; }
done

# The check itself: a header of a library must not get through.
for header in atomic string.h stdlib.h type_traits; do
  if printf '#include <%s>\n' "$header" | compile -fsyntax-only -x c++ - 2>/dev/null; then
    echo "<$header> is in reach: this check would see nothing"
    exit 1
  fi
done
echo "freestanding with $compiler"

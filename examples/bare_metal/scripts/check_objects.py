#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Print the size of each strategy's queue code; fail when it calls anything outside itself.

The compiler itself may call memcpy and memset for copies and zeroes, freestanding or not; a program must bring them.

Usage: check_objects.py SIZE NM OBJECT...
Exit status: 0 all right, 1 a symbol from outside or static data, 2 a tool or a file is missing.
"""
import pathlib
import subprocess
import sys

FROM_THE_COMPILER = {"memcpy", "memset"}


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    size, nm, objects = sys.argv[1], sys.argv[2], sys.argv[3:]
    failed = False
    print("strategy         |  text | data | bss | from outside")
    for path in objects:
        text, data, bss = (int(n) for n in output(size, path).splitlines()[1].split()[:3])
        outside = {line.split()[-1] for line in output(nm, "-u", path).splitlines()}
        print(f"{pathlib.Path(path).stem:16} | {text:5} | {data:4} | {bss:3} | {' '.join(sorted(outside)) or '-'}")
        if outside - FROM_THE_COMPILER:
            print(f"  not freestanding: {' '.join(sorted(outside - FROM_THE_COMPILER))}")
            failed = True
        if data or bss:
            print("  static data: the queue's memory is the user's")
            failed = True
    return 1 if failed else 0


sys.exit(main())

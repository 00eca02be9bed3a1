#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Fails when a library with the C interface needs more from outside than the port. needs.py NM LIBRARY..."""
import subprocess
import sys

PORT = {"cmdq_port_now_ns", "cmdq_port_pause", "cmdq_port_enter", "cmdq_port_leave", "cmdq_port_cpu"}
FROM_THE_COMPILER = {"memcpy", "memset"}


def symbols(nm, *arguments):
    lines = subprocess.run([nm, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.strip() and not line.endswith(":")}


def main():
    nm, libraries = sys.argv[1], sys.argv[2:]
    wrong = 0
    for library in libraries:
        extra = symbols(nm, "-u", library) - PORT - FROM_THE_COMPILER - symbols(nm, "--defined-only", library)
        if extra:
            wrong += 1
            print(f"{library} needs {' '.join(sorted(extra))}")
    print(f"{len(libraries) - wrong} of {len(libraries)} libraries need the port only")
    sys.exit(1 if wrong or not libraries else 0)


main()

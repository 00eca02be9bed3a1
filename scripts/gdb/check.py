#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check.py GDB PROGRAM: runs try.cpp's program in gdb with cmdq.py, and compares what is printed."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
COMMON = {
    "shape": "2^5 = 32 entries",
    "commands[0]": "TLBI_NH_VA 0x12 0x3000",
    "commands[1]": "opcode 0xff 0xff 0x0",
    "memory.entries_[29]": "TLBI_NH_VA 0x12 0x3000",
    "o.first": "4294967293 (0xfffffffd)",
    "erring": "idle, detached, list [16, 18), untold error illegal at 17",
}
# Each strategy in the order of strategies.hpp: its state with a writer open, and the cell that has it.
STATES = {
    "cmpxchg_loop": "cmpxchg_loop: claimed 4294967295, has an owner, done 4294967293",
    "owner_bits": "owner_bits: claimed 4294967295, 1 lists gathered, 0 of them wait, done 4294967293",
    "combining": "combining: claimed 4294967295, 1 lists gathered, 0 want a CMD_SYNC, done 4294967293",
    "delegated": "delegated: claimed 4294967294, nobody combines, done 4294967293",
}


def main():
    debugger, program = sys.argv[1:]
    expressions = list(COMMON) + ["memory.cells_[0]", "queue.allocation_"]
    script = ["set width 0", "set debuginfod enabled off", f"source {HERE / 'cmdq.py'}", "break looked_at", "run"]
    for _ in STATES:
        script += ["up"] + [part for e in expressions for part in (f"output {e}", "echo \\n")] + ["continue"]
    options = [part for line in script for part in ("-ex", line)]
    ran = subprocess.run([debugger, "-nx", "-batch", *options, program], text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    if "ptrace: Operation not permitted" in ran.stdout or "Could not trace the inferior" in ran.stdout:
        print("SKIPPED: gdb may not run programs here")
        return 0
    wanted = []
    for state in STATES.values():
        wanted += list(COMMON.values()) + ["filling, list [0, 0)", state]
    left = iter(ran.stdout.splitlines())
    for line in wanted:
        if line not in left:
            print(f"not printed, or not in its place: {line}\n--- gdb:\n{ran.stdout}")
            return 1
    print(f"{len(wanted)} values printed as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())

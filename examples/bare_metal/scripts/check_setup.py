#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compare the register accesses of first_sync with those of a real driver, where both do the same job.

Usage: check_setup.py RECORDED TRACE
Exit status: 0 equal but for the explained differences, 1 different, 2 a file cannot be read.
"""
import re
import sys

NAMES = {0x00: "IDR0", 0x04: "IDR1", 0x0C: "IDR3", 0x14: "IDR5", 0x18: "IIDR", 0x20: "CR0", 0x24: "CR0ACK",
         0x28: "CR1", 0x2C: "CR2", 0x60: "GERROR", 0x64: "GERRORN", 0x80: "STRTAB_BASE", 0x88: "STRTAB_BASE_CFG",
         0x90: "CMDQ_BASE", 0x98: "CMDQ_PROD", 0x9C: "CMDQ_CONS"}
ONLY_RECORDED = {
    ("read", 0x20): "the driver warns when firmware left translation on; here it is switched off in any case",
    ("write", 0x80): "the driver also sets up translation: stream table",
    ("write", 0x88): "the driver also sets up translation: stream table",
}
ONLY_OURS = {
    ("read", 0x60): "old errors are looked for before the queue is enabled, and new ones after each list;",
    ("read", 0x64): "the driver leaves that to its interrupt handler",
}
LINE = re.compile(r"smmuv3_(read|write)_mmio addr: 0x([0-9a-f]+) val:0x([0-9a-f]+) size: 0x([0-9a-f]+)")


def accesses(path):
    """(kind, offset, value) in order; two 32-bit halves of CMDQ_BASE become one access."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    out = []
    for line in lines:
        found = LINE.search(line)
        if not found:
            continue
        kind, offset, value, size = found[1], int(found[2], 16), int(found[3], 16), int(found[4], 16)
        if offset == 0x94 and out and out[-1][:2] == (kind, 0x90):
            out[-1] = (kind, 0x90, out[-1][2] | value << 32)
            continue
        if offset == 0x90 and size not in (4, 8):
            print(f"{path}: CMDQ_BASE accessed with {size} bytes", file=sys.stderr)
            sys.exit(1)
        out.append((kind, offset, value))
    return out


def bring_ups(items):
    """Cut into bring-ups: from a read of IDR0 to the second list consumed (read of CONS = 4)."""
    runs, current = [], None
    for item in items:
        if item[:2] == ("read", 0x00):
            current = []
        if current is not None:
            current.append(item)
            if item == ("read", 0x9C, 4):
                runs.append(current)
                current = None
    return runs


def normal(items, dropped, seen):
    """Without the explained accesses, repeated polls and the ring's address."""
    out = []
    for kind, offset, value in items:
        if (kind, offset) in dropped:
            seen.add((kind, offset))
            continue
        if offset == 0x90:
            value &= ~0x000FFFFFFFFFFFE0  # the ring's address
        if out and kind == "read" and out[-1][:2] == (kind, offset):
            out.pop()  # polling
        out.append((kind, offset, value))
    return out


def show(item):
    return f"{item[0]:5} {NAMES.get(item[1], hex(item[1])):16} {item[2]:#x}" if item else "nothing"


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    seen = set()
    recorded = bring_ups(accesses(sys.argv[1]))
    ours = bring_ups(accesses(sys.argv[2]))
    if len(recorded) != 1 or len(ours) != 2:
        print(f"expected 1 recorded bring-up and 2 of ours (64-bit, 32-bit), found {len(recorded)} and {len(ours)}")
        return 1
    want = normal(recorded[0], ONLY_RECORDED, seen)
    for label, run in zip(("64-bit", "32-bit"), ours):
        have = normal(run, ONLY_OURS, seen)
        for i in range(max(len(want), len(have))):
            a = want[i] if i < len(want) else None
            b = have[i] if i < len(have) else None
            if a != b:
                print(f"{label} accesses, step {i}: recorded {show(a)}, ours {show(b)}")
                return 1
        print(f"{label} accesses: {len(have)} equal steps, from IDR0 to the second list consumed")
    print("explained differences:")
    for table, who in ((ONLY_RECORDED, "only recorded"), (ONLY_OURS, "only ours")):
        for key, why in table.items():
            if key not in seen:
                print(f"stale explanation: no {key[0]} of {NAMES[key[1]]} is {who}")
                return 1
            print(f"  {who}: {key[0]} {NAMES[key[1]]}: {why}")
    print("  value of CMDQ_BASE: the ring's address")
    return 0


sys.exit(main())

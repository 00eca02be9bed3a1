#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Judge a run of the producers image by what the device itself saw, as QEMU's trace tells it.

Each command is a TLBI_NH_VA whose ASID is the CPU and whose address holds, from bit 12 up: sequence number (25 bits),
bit 40: commands of the same list still to come (8), bit 48: phase (8), bit 56: the CPU's last command of the phase.
The image writes two registers that the device ignores, and that the trace shows: 0xe00 = a phase begins,
0xe04 = CPU << 25 | n: this CPU was told that its commands before n are done.

Checked in each phase: every command exactly once, each CPU's in order, lists in one piece, done when said to be done,
PROD never back and never more than a lap ahead, as many commands and errors as the console's table says.

Usage: oracle.py CONSOLE TRACE, or oracle.py --self-test
Exit status: 0 all right, 1 a check failed, 2 a file cannot be read.
"""
import re
import sys

EVENT = re.compile(r"smmuv3_(?:s1_range_inval vmid=\d+ asid=(\d+) addr=0x([0-9a-f]+)"
                   r"|write_mmio addr: 0x(90|94|98|9c|e00|e04) val:0x([0-9a-f]+)|cmdq_consume_error (.*))")
ROW = re.compile(r"^\s*(\d+) \| (\S+)\s+\| (\S+)\s+\|\s*(\d+) \|\s*(\d+) \|\s*(\d+) \|\s*(\d+) \|.*\| (\w+)\s*$")


class Wrong(Exception):
    """What the trace shows is wrong."""


class Phase:
    """What the device saw between two phase marks."""

    def __init__(self, number):
        self.number = number
        self.next = {}       # CPU -> sequence number that must come next
        self.ended = set()   # CPUs whose last command was seen
        self.open_list = None  # (CPU, commands still to come)
        self.commands = 0
        self.errors = 0

    def fail(self, text):
        raise Wrong(f"phase {self.number}: {text}")

    def command(self, cpu, address):
        sequence, left = address >> 12 & 0x1FFFFFF, address >> 40 & 0xFF
        phase, last = address >> 48 & 0xFF, address >> 56 & 1
        if phase != self.number:
            self.fail(f"CPU {cpu}: command {sequence} of phase {phase} consumed again")
        wanted = self.next.get(cpu, 0)
        if sequence != wanted or cpu in self.ended:
            what = "twice" if sequence < wanted else "too early, something is lost or out of order"
            self.fail(f"CPU {cpu}: command {sequence} consumed {what}; {wanted} was due")
        if self.open_list is not None and self.open_list != (cpu, left):
            self.fail(f"CPU {cpu}: command {sequence} inside a list of CPU {self.open_list[0]}")
        self.open_list = (cpu, left - 1) if left else None
        self.next[cpu] = wanted + 1
        self.commands += 1
        if last:
            self.ended.add(cpu)

    def done(self, value):
        cpu, n = value >> 25, value & 0x1FFFFFF
        if self.next.get(cpu, 0) < n:
            self.fail(f"CPU {cpu}: told that {n} commands are done, device consumed {self.next.get(cpu, 0)}")

    def close(self):
        missing = set(self.next) - self.ended
        if missing:
            self.fail(f"last command never consumed: CPUs {sorted(missing)}")


class Device:
    """The ring as the register writes describe it."""

    def __init__(self):
        self.log2, self.prod, self.setting_up = 0, 0, False

    def write(self, offset, value, phase):
        if offset == 0x90:
            self.log2, self.setting_up = value & 0x1F, True
        elif offset == 0x9C:
            self.prod, self.setting_up = value, False  # bring-up: CONS = PROD
        elif offset == 0x98 and not self.setting_up:
            ahead = value - self.prod & (2 << self.log2) - 1
            if ahead > 1 << self.log2:
                phase.fail(f"PROD went from {self.prod:#x} to {value:#x} in a ring of 2^{self.log2}")
            self.prod = value


def judge(lines):
    """The phases of a trace, each checked."""
    phases, phase, device = [], None, Device()
    for line in lines:
        found = EVENT.search(line)
        if not found:
            continue
        asid, address, register, value, error = found.groups()
        if asid is not None:
            if phase is None:
                raise Wrong("a command before the first phase")
            phase.command(int(asid), int(address, 16))
        elif error is not None:
            if phase is not None:
                phase.errors += 1
        elif register == "e00":
            if phase is not None:
                phase.close()
            phase = Phase(int(value, 16))
            phases.append(phase)
        elif register == "e04":
            phase.done(int(value, 16))
        else:
            device.write(int(register, 16), int(value, 16), phase)
    if phase is not None:
        phase.close()
    return phases


def compare(phases, console):
    """The trace against the table that the image printed."""
    rows = [found for found in map(ROW.match, console) if found]
    if not rows or len(rows) != len(phases):
        raise Wrong(f"the table has {len(rows)} rows, the trace {len(phases)} phases")
    for row, phase in zip(rows, phases):
        number, strategy, scenario, cpus, _, commands, errors, result = row.groups()
        want = {"phase": int(number), "CPUs": int(cpus), "commands": int(commands), "errors": int(errors)}
        have = {"phase": phase.number, "CPUs": len(phase.next), "commands": phase.commands, "errors": phase.errors}
        for key, value in want.items():
            if have[key] != value:
                phase.fail(f"{strategy}, {scenario}: the table says {key} {value}, the device saw {have[key]}")
        if result != "ok":
            phase.fail(f"{strategy}, {scenario}: {result}")
    return sum(phase.commands for phase in phases)


def address_of(phase, sequence, left, last):
    return sequence << 12 | left << 40 | phase << 48 | last << 56


def self_test():
    """A right trace is accepted; each way to spoil it is refused."""
    def inval(cpu, sequence, left=0, last=0, phase=1):
        return f"smmuv3_s1_range_inval vmid=0 asid={cpu} addr=0x{address_of(phase, sequence, left, last):x} tg=0"

    def write(offset, value):
        return f"smmuv3_write_mmio addr: 0x{offset:x} val:0x{value:x} size: 0x4(0)"

    good = [write(0x90, 4), write(0x9C, 30), write(0xE00, 1), inval(0, 0, 1), inval(0, 1), inval(1, 0), write(0x98, 1),
            write(0xE04, 1 << 25 | 1), inval(1, 1, 0, 1), inval(0, 2, 0, 1), write(0x98, 3), write(0xE04, 3)]
    spoilt = {
        "a command lost": good[:5] + good[6:],
        "a command twice": good[:5] + good[4:],
        "the last one twice": good[:10] + good[9:],
        "order of one CPU": good[:8] + [good[9], inval(0, 1)] + good[10:],
        "a list torn": good[:4] + [good[5], good[4]] + good[6:],
        "the end missing": good[:9] + good[10:11],
        "done too early": good[:7] + [write(0xE04, 1 << 25 | 2)] + good[8:],
        "PROD back": good[:10] + [write(0x98, 0)],
        "more than a lap": good[:10] + [write(0x98, 18)],
        "another phase": good[:3] + [inval(0, 0, 1, 0, 0)] + good[4:],
    }
    compare(judge(good), ["1 | s | x | 2 | 3 | 5 | 0 | 9 | ok"])
    failures = 0
    for what, lines in spoilt.items():
        try:
            judge(lines)
            print(f"not noticed: {what}")
            failures += 1
        except Wrong as why:
            print(f"{what}: {why}")
    for row in ("1 | s | x | 2 | 3 | 6 | 0 | 9 | ok", "1 | s | x | 3 | 3 | 5 | 0 | 9 | ok",
                "1 | s | x | 2 | 3 | 5 | 1 | 9 | ok", "1 | s | x | 2 | 3 | 5 | 0 | 9 | failed", ""):
        try:
            compare(judge(good), [row])
            print(f"not noticed: table row {row!r}")
            failures += 1
        except Wrong as why:
            print(f"table: {why}")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as console, open(sys.argv[2], encoding="utf-8") as trace:
            phases = judge(trace)
            commands = compare(phases, console)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except Wrong as why:
        print(f"oracle: {why}")
        return 1
    print(f"oracle: {len(phases)} phases, {commands} commands, each consumed once and in its CPU's order")
    return 0


if __name__ == "__main__":
    sys.exit(main())

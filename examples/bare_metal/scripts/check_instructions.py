#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Check the instructions by which registers and the clock are accessed, in an object of instructions.cpp.

  stores   each store_* function has plain stores from an ordinary register, each load* function a plain load:
           hypervisors are known to mishandle a trapped store from the zero register, and cannot emulate an access that
           also changes its base
  clock    each reading of the virtual counter comes right behind an ISB, or it could be read early

Usage: check_instructions.py OBJDUMP stores|clock OBJECT...    check objects
       check_instructions.py --self-test                       check the checks
Exit status: 0 all right, 1 something is not, 2 a tool or a file is missing.
"""
import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+[0-9a-f]{8}\s+(\S+)\s*(.*?)(?:\s+//.*)?$")
PLAIN = re.compile(r"(?:w|x)\d+, \[x\d+(?:, #\d+)?\]$")


def functions(disassembly):
    """name -> [(mnemonic, operands)]"""
    found, name = {}, None
    for line in disassembly.splitlines():
        if match := FUNCTION.match(line):
            name = match.group(1)
            found[name] = []
        elif name is not None and (match := INSTRUCTION.match(line)):
            found[name].append((match.group(1), match.group(2)))
    return found


def check_stores(code):
    kinds = {"store_": "str", "load": "ldr"}
    wanted = {name: kind for name in code for prefix, kind in kinds.items() if name.startswith(prefix)}
    if not wanted:
        yield "no function named store_* or load*"
    for name, kind in wanted.items():
        accesses = [operands for mnemonic, operands in code[name] if mnemonic[:2] in ("st", "ld") and "sp" not in operands]
        named = [operands for mnemonic, operands in code[name] if mnemonic == kind]
        if not named or accesses != named:
            yield f"{name}: {code[name]} has no {kind}, or others"
        for operands in accesses:
            if not PLAIN.match(operands):
                yield f"{name}: {kind} {operands} is not between an ordinary register and an address left as it is"


def check_clock(code):
    readings = 0
    for name, instructions in code.items():
        for i, (mnemonic, operands) in enumerate(instructions):
            if mnemonic == "mrs" and "cntvct" in operands:
                readings += 1
                if i == 0 or instructions[i - 1][0] != "isb":
                    yield f"{name}: the counter is read behind {instructions[i - 1] if i else 'nothing'}, not behind an ISB"
    if readings == 0:
        yield "nobody reads the counter"


CHECKS = {"stores": check_stores, "clock": check_clock}


def self_test():
    text = "0000000000000000 <{}>:\n   0:\t{}\n"
    cases = [
        ("stores", "store_a", "b9002001 \tstr\tw1, [x0, #32]", True),
        ("stores", "store_a", "b900201f \tstr\twzr, [x0, #32]", False),
        ("stores", "store_a", "f900201f \tstr\txzr, [x0]", False),
        ("stores", "store_a", "b8004401 \tstr\tw1, [x0], #4", False),
        ("stores", "store_a", "a9007c1f \tstp\txzr, xzr, [x0]", False),
        ("stores", "store_a", "d65f03c0 \tret", False),
        ("stores", "load32", "b9409c00 \tldr\tw0, [x0, #156]", True),
        ("stores", "load32", "b8404400 \tldr\tw0, [x0], #4", False),
        ("stores", "other", "d65f03c0 \tret", False),
        ("clock", "c", "d5033fdf \tisb\n   4:\td53be040 \tmrs\tx0, cntvct_el0", True),
        ("clock", "c", "d53be040 \tmrs\tx0, cntvct_el0", False),
        ("clock", "c", "d5033fdf \tisb\n   4:\td503201f \tnop\n   8:\td53be040 \tmrs\tx0, cntvct_el0", False),
        ("clock", "c", "d65f03c0 \tret", False),
    ]
    wrong = [case for case in cases if (not list(CHECKS[case[0]](functions(text.format(*case[1:3]))))) != case[3]]
    for case in wrong:
        print("self-test:", case)
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 4 or sys.argv[2] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    failed = False
    for path in sys.argv[3:]:
        try:
            text = subprocess.run([sys.argv[1], "-d", path], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            print(error, file=sys.stderr)
            return 2
        for problem in CHECKS[sys.argv[2]](functions(text)):
            print(f"{path}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""stats::none costs no instruction: the headers as they are, and with every counting statement taken out of their text,
compile to the same machine code. no_stats.py COMPILER INCLUDE SOURCE. Exit codes: 0 the same, 1 not, 2 usage."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COUNTING = re.compile(r"^\s*(w\.)?stats\.add\([^;]*\);(\s*//.*)?$\n", re.MULTILINE)
LEAST = 15  # counting statements that must be found, or the pattern has become blind


def code(compiler, include, source, stats, out):
    subprocess.run([compiler, "-std=c++20", "-O3", "-DNDEBUG", f"-DCMDQ_BENCH_STATS={stats}", f"-I{include}", "-c", source,
                    "-o", out], check=True)
    listing = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", out], check=True, capture_output=True, text=True)
    return listing.stdout.split("\n", 3)[3]  # without the file's name


def main():
    if len(sys.argv) != 4:
        sys.exit(2)
    compiler, include, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        bare = pathlib.Path(folder) / "include"
        shutil.copytree(include, bare)
        removed = 0
        for header in bare.rglob("*.hpp"):
            if header.parent.name == "stats":
                continue
            text, n = COUNTING.subn("", header.read_text())
            removed += n
            header.write_text(text)
        if removed < LEAST:
            sys.exit(f"only {removed} counting statements found, at least {LEAST} are there")
        out = f"{folder}/out.o"
        none = code(compiler, include, source, "cmdq::stats::none", out)
        without = code(compiler, bare, source, "cmdq::stats::none", out)
        for policy in ("counters", "trace_ring<cmdq::default_config::platform>"):
            if code(compiler, include, source, f"cmdq::stats::{policy}", out) == none:
                sys.exit(f"stats::{policy} changes nothing: the comparison is blind")
    if none != without:
        sys.exit("stats::none leaves instructions behind")
    print(f"same code with stats::none as without the {removed} counting statements ({len(none.splitlines())} lines)")


if __name__ == "__main__":
    main()

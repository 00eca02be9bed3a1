#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Small inputs on which the program once lost work or hid a failure, each with what is right. Run as a user would.

Usage: rows.py --program CMDQ --data FOLDER --source FOLDER --compiler CXX --work FOLDER ROW...
Exit status: 0 all right, 1 not, 2 no such row.
"""
import argparse
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios

HEADER = "seq,write,slot,opcode,d0,d1,fields\n"
TLBI = ",0x30,0x0000000000000030,0x0000000000000000,\n"
SYNC = ",0x46,0x0000000000002046,0x0000000000000000,cs=2;msh=0;msiattr=0x0;msidata=0x0;msiaddr=0x0\n"
PATIENCE = 1200  # seconds: only what hangs comes to it

args = None


class Wrong(Exception):
    pass


def check(holds, what):
    if not holds:
        raise Wrong(what)


def run(*arguments, expect=0, says=None, **more):
    done = subprocess.run([args.program, *map(str, arguments)], stdin=more.pop("stdin", subprocess.DEVNULL),
                          stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=PATIENCE,
                          check=False, **more)
    out = (done.stdout or b"").decode("utf-8", "backslashreplace")
    err = done.stderr.decode("utf-8", "backslashreplace")
    told = f"cmdq {' '.join(map(str, arguments))}: exit {done.returncode}, expected {expect}\n{out}{err}"
    check(done.returncode == expect, told)
    check(says is None or re.search(says, out + err), f"no match of {says!r}\n{told}")
    return out, err


def file(name, text):
    path = args.work / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def stream(name, lists, length):
    """Lists of so many commands, each with a CMD_SYNC."""
    rows, seq = [HEADER], 0
    for write in range(lists):
        for _ in range(length):
            rows.append(f"{seq},{write},{seq}{TLBI}")
            seq += 1
        rows.append(f"{seq},{write},{seq}{SYNC}")
        seq += 1
    return file(name, "".join(rows))


def recorded(name):
    return args.data / f"{name}.cmds.csv"


def r60_refused_combination_is_a_row():
    some, result = stream("two.csv", 20, 2), args.work / "r60.json"
    out, _ = run("replay", some, "--strategy", "owner_bits,cmpxchg_loop", "--threads", "4,32", "--entries", 64, "--json",
                 result, expect=2, says="1 of 4 runs were refused")
    check(len(re.findall("passed", out)) >= 3 and re.search("owner_bits .* 32 .* refused: .*too small", out), out)
    runs = json.loads(result.read_text())["runs"]
    check([("refused" in r) for r in runs] == [False, True, False, False], f"refused runs in {runs}")
    check(all(r["passed"] for r in runs if "refused" not in r), "a run that was not refused is kept")
    run("replay", some, "--strategy", "combining,cmpxchg_loop", "--reclaim", "sync_locked", expect=2,
        says="combining takes no lock(.|\n)*passed")
    run("simulate", "contention", "--topology", "soc-8", "--cpus", "1,8", "--log2-size", 6, "--list-length", 20, "--time",
        100000, "--json", result, expect=2, says="runs were refused")
    rows = json.loads(result.read_text())["rows"]
    check(len(rows) == 8 and 0 < sum("refused" in r for r in rows) < 8, f"rows kept: {rows}")


def r61_full_disk_is_an_error():
    some = stream("one.csv", 5, 1)
    for command in (["decode", "0x46", "0"], ["encode", "--list"], ["replay", some], ["--help"], ["replay", "--help"],
                    ["--version"], ["simulate", "safe", "--syncs", 10], ["reproduce", "completion"],
                    ["simulate", "contention", "--topology", "soc-8", "--cpus", 1, "--time", 10000]):
        with open("/dev/full", "wb") as full:
            run(*command, expect=2, stdout=full, says="standard output: cannot be written")
    for command in (["decode", "0x46", "0"], ["replay", some], ["simulate", "safe", "--syncs", 10],
                    ["reproduce", "completion"]):
        run(*command, "--json", "/dev/full", expect=2, says="--json /dev/full: cannot be written: No space left")
        run(*command, "--json", args.work / "out.json")
    run("reproduce", "completion", "--html", "/dev/full", expect=2, says="--html /dev/full: cannot be written")


def r62_numbers_have_limits():
    soc = ["--topology", "soc-8", "--cpus", "1"]
    for bad in (["simulate", "contention", *soc, "--time", "nan"], ["simulate", "contention", *soc, "--think", "nan"],
                ["simulate", "contention", *soc, "--think", "-1e300"], ["simulate", "dma", *soc, "--time", "inf"],
                ["simulate", "dma", *soc, "--think", "nan"], ["simulate", "dma", *soc, "--think", "-1e300"],
                ["simulate", "dma", *soc, "--flush-ms", "nan"], ["simulate", "contention", *soc, "--time", "1e999"],
                ["simulate", "safe", "--syncs", "0"], ["simulate", "safe", "--firmware", "4294967296"],
                ["simulate", "calibrate", "--near-first", "-1"],
                ["replay", recorded("nvme-lazy-smp4"), "--sync-ns", "18446744073709551615"],
                ["replay", recorded("nvme-lazy-smp4"), "--deadline-ms", "18446744073709551616"],
                ["replay", recorded("nvme-lazy-smp4"), "--threads", "1,,2"]):
        run(*bad, expect=2, says=f"{bad[-2]} {re.escape(bad[-1])}: (must be a number from \\S+ to \\S+|an empty value)")
    soc8 = json.loads((args.source / "src/manycore/topologies/soc-8.json").read_text())

    def timeless(o):
        return {k: timeless(v) if isinstance(v, dict) else v if k in ("name", "source") or "per_" in k or k == "sockets"
                else 0 for k, v in o.items()}
    for text, says in ((json.dumps(timeless(soc8)), 'field "\\S+" is 0, must be '),
                       (json.dumps(soc8).replace('"think_ns": 900', '"think_ns": 1e999'), r":1:\d+: number 1e999: larger"),
                       ('{"a":' * 200000 + "1" + "}" * 200000, ":1:81: nested deeper than the limit of 16"),
                       ("[" * 200000 + "]" * 200000, ":1:17: nested deeper than the limit of 16"),
                       ('{"name": "x",\n "source": nan}', ":2:13: not JSON"), ("", "not JSON"),
                       ('{"think_ns": -1e300}', "topology.json: field")):
        run("simulate", "contention", "--topology", file("topology.json", text), "--cpus", 1, expect=2, says=says)


def r63_outputs_are_opened_before_the_work():
    some = stream("one.csv", 5, 1)
    nowhere = args.work / "no" / "folder" / "x"
    for command in (["replay", some], ["simulate", "safe"], ["simulate", "dma", "--topology", "soc-8"],
                    ["simulate", "contention"], ["simulate", "calibrate"], ["reproduce", "huge-pages"],
                    ["decode", 70, 0], ["encode", "CMD_SYNC"]):
        out, _ = run(*command, "--json", nowhere, expect=2, says="x: cannot be written: No such file or directory")
        check(out == "", f"{command}: printed before it looked: {out}")
    for command, option in ((["reproduce", "huge-pages"], "--html"), (["simulate", "contention"], "--trace"),
                            (["simulate", "calibrate"], "--write-topology"), (["simulate", "dma"], "--html")):
        out, _ = run(*command, option, nowhere, expect=2, says=f"{option} \\S+x: cannot be written")
        check(out == "", f"{command}: printed before it looked: {out}")
    kept = file("kept.json", "what was there")
    run("replay", args.work / "absent.csv", "--json", kept, expect=2)
    check(kept.read_text() == "what was there", "an error before the work takes nothing away")


def r64_no_thread_to_be_had():
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    for device in ("inline", "thread"):
        run("replay", stream("one.csv", 5, 1), "--threads", 1024, "--entries", 4096, "--device", device, expect=2,
            says="issuer thread [0-9]+ cannot be started: ", preexec_fn=limit)


def r65_interrupt_keeps_what_there_is():
    result = args.work / "r65.json"
    for number, name in ((signal.SIGINT, "^C"), (signal.SIGTERM, "SIGTERM")):
        # The first stream is done at once; the second takes a second per list.
        command = [args.program, "replay", str(stream("quick.csv", 1, 1)), str(stream("slow.csv", 100, 1)), "--sync-ns",
                   "1000000000", "--threads", "1", "--json", str(result)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda n=number: signal.signal(n, signal.SIG_DFL)) as child:
            seen = []
            while not any("passed" in line for line in seen):
                seen.append(child.stdout.readline())
                check(seen[-1] != "", f"ended early: {seen}")
            child.send_signal(number)
            _, err = child.communicate(timeout=PATIENCE)
        check(child.returncode == 128 + number, f"{name}: exit {child.returncode}, {err}")
        check("incomplete" in err, f"{name}: does not say so: {err}")
        got = json.loads(result.read_text())
        check(got["complete"] is False and len(got["runs"]) == 1 and got["runs"][0]["passed"], f"{name}: {got}")


def r66_what_is_read_and_what_is_refused():
    text = recorded("nvme-strict-smp4").read_text()
    lines = text.splitlines(keepends=True)
    whole = r"3125 +3123"
    passed = ["--threads", 1]
    run("replay", file("stream.csv.gz", gzip.compress(text.encode())), *passed, says=whole)
    run("replay", file("mark.csv", b"\xef\xbb\xbf" + text.encode()), *passed, says=whole)
    run("replay", file("crlf.csv", text.replace("\n", "\r\n")), *passed, says=whole)
    with open(recorded("nvme-strict-smp4"), "rb") as given:
        run("replay", "-", *passed, stdin=given, says=f"standard input .*{whole}")
    no_fields = re.sub(r"(0x[0-9a-f]{16},0x[0-9a-f]{16},).*", r"\1", text)
    run("replay", file("no_fields.csv", no_fields), *passed, says=whole)
    # A slice, also one that begins in the middle of a list and far up.
    run("replay", file("slice.csv", "".join(lines[:2] + lines[4001:])), *passed, says="all checks passed")
    far = "".join(f"{i + 60000},{i},{i}{SYNC if i % 2 else TLBI}" for i in range(10))
    run("replay", file("far.csv", HEADER + far), *passed, says=r"far.csv +combining .* 10 +5 ")
    refused = (("words.csv", HEADER + "0,0,0,0x30,,,\n", r"words.csv:2:12: expected 0x and 16 hex.*found nothing"),
               ("gap.csv", HEADER + f"60000,0,0{TLBI}60002,0,0{TLBI}", "gap.csv:3:1: expected 60001, found \"60002\""),
               ("wide.csv", text.encode("utf-16"), r"expected the header .* found \"\\xff\\xfe"),
               ("cut.csv.gz", gzip.compress(text.encode())[:5000], "cut.csv.gz: the compressed data are cut short"),
               ("bad.csv.gz", gzip.compress(text.encode())[:-8] + b"12345678", "bad.csv.gz: .*damaged"),
               ("binary.csv", pathlib.Path(args.program).read_bytes()[:4096], r"found \"\\x7fELF\\x02"))
    for name, content, says in refused:
        out, err = run("replay", file(name, content), *passed, expect=2, says=says)
        check(all(" " <= c <= "~" or c == "\n" for c in out + err), f"{name}: bytes on the terminal: {out + err!r}")
    run("replay", args.work, expect=2, says="cannot be read: Is a directory")


def r67_the_real_driver_stands_beside():
    result = args.work / "r67.json"
    files = [recorded(n) for n in ("nvme-lazy-smp4", "nvme-strict-smp4", "virtio-strict-smp4")]
    out, _ = run("replay", *files, "--threads", 1, "--json", result, says="nvme-strict.* recorded .* 3124 +3111 ")
    check(len(re.findall(" recorded ", out)) == 3, out)
    got = {r["stream"].split(".")[0]: (r["prod_writes"], r["syncs"]) for r in json.loads(result.read_text())["recorded"]}
    # As the recording's own summaries count them; virtio's was cut to 12000 commands.
    check(got == {"nvme-lazy-smp4": (251, 250), "nvme-strict-smp4": (3111, 3124), "virtio-strict-smp4": (5988, 5993)},
          f"recorded: {got}")


def r68_a_refusal_names_the_ways_out():
    some = stream("long.csv", 8, 64)
    asked = ["replay", some, "--entries", 128, "--threads", 4]
    out, _ = run(*asked, "--strategy", "combining", expect=2, says="= 260 may be outstanding, limit 128")
    ways = re.search("what serves: (.*)", out).group(1)
    for way in ("--entries 512", "--threads 1", "--strategy cmpxchg_loop"):
        check(way in ways, f"{way!r} is not in {ways!r}")
    found = re.findall(r"--(entries|threads|strategy) (\w+(?: or \w+)*)", ways)
    for option, values in found:
        for value in values.split(" or "):
            given = {"entries": "128", "threads": "4", "strategy": "combining", option: value}
            run("replay", some, *(word for k, v in given.items() for word in (f"--{k}", v)), says="all checks passed")


def r72_a_strategy_left_out_does_not_compile():
    listed = "include/cmdq/allocation/strategies.hpp"
    text = (args.source / listed).read_text()
    users = ["src/cli/replay/strategies.cpp", "src/cli/simulate/dma.cpp", "property_tests/queue/rig.cpp"]
    for spoilt in (False, True):
        copy = args.work / "spoilt" / "cmdq" / "allocation" / "strategies.hpp"
        copy.parent.mkdir(parents=True, exist_ok=True)
        added = re.sub(r"(  X\(combining, false\))", r"\1 \\\n  X(unheard_of, false)", text)
        check(added != text, f"{listed} lists its strategies another way")
        copy.write_text(added if spoilt else text)
        for user in users:
            built = subprocess.run([args.compiler, "-std=c++20", "-fsyntax-only", "-w", '-DCMDQ_VERSION="0"',
                                    f"-I{args.work / 'spoilt'}", f"-I{args.source / 'include'}",
                                    *(f"-I{args.source / f}" for f in ("src/cli", "src/manycore", "property_tests")),
                                    str(args.source / user)], capture_output=True, text=True, check=False)
            check((built.returncode != 0) == spoilt, f"{user}: compiles {'with' if spoilt else 'not without'} a strategy "
                  f"that it does not know\n{built.stderr[:2000]}")
            check(not spoilt or "unheard_of" in built.stderr, built.stderr[:2000])
    run("replay", stream("one.csv", 5, 1), "--strategy", "unheard_of", expect=2, says="must be one of cmpxchg_loop, ")


def usage_errors_end_with_the_error():
    for bad, says in ((["replya", "x"], "'replya' is no command of `cmdq`; commands: .*replay"),
                      (["simulate", "everything"], "'everything' is no command of `cmdq simulate`; commands: .*dma"),
                      (["replay"], "files is required"), (["replay", "--magic", "x"], "--magic"),
                      (["decode", "1"], "WORD1 is required"), ([], "subcommand is required")):
        out, err = run(*bad, expect=2, says=says)
        check(out == "" and err.count("\n") == 1, f"{bad}: more than the error: {out}{err}")


def json_is_the_same_everywhere():
    some = stream("one.csv", 5, 1)
    for command in (["decode", 70, 0], ["encode", "CMD_SYNC"], ["encode", "--list"], ["replay", some],
                    ["simulate", "safe", "--syncs", 10], ["reproduce", "completion"],
                    ["simulate", "contention", "--topology", "soc-8", "--cpus", 1, "--time", 10000],
                    ["simulate", "dma", "--topology", "soc-8", "--cpus", 1, "--time", 10000]):
        out, _ = run(*command, "--json", "-")
        check(json.loads(out)["complete"] is True, f"{command}: {out}")
        path = args.work / "same.json"
        text, _ = run(*command, "--json", path)
        check(json.loads(path.read_text()).keys() == json.loads(out).keys() and text != "", f"{command}: file and text")


def on_a_terminal(columns, term):
    """Standard error of a run of three seconds, on a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = dict(os.environ, TERM=term)
    command = [args.program, "replay", str(stream("three.csv", 3, 1)), "--sync-ns", "1000000000", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=environment) as child:
        os.close(slave)
        said = b""
        try:
            while part := os.read(master, 65536):
                said += part
        except OSError:  # the other side is closed
            pass
        child.communicate(timeout=PATIENCE)
    os.close(master)
    check(child.returncode == 0, f"exit {child.returncode}: {said}")
    return said.decode()


def progress_on_a_terminal_only():
    said = on_a_terminal(30, "xterm")
    lines = [line for line in said.split("\r\x1b[K") if line]
    check(lines and lines[0].startswith("[1/1] three.csv"), f"no progress: {said!r}")
    check(all(len(line) < 30 for line in lines), f"wider than the terminal: {lines}")
    check(said.endswith("\r\x1b[K"), f"the line is left behind: {said!r}")
    check(on_a_terminal(80, "dumb") == "", "a dumb terminal gets none")
    _, err = run("replay", stream("three.csv", 3, 1), "--sync-ns", "1000000000", "--threads", "1")
    check(err == "", f"no terminal, no progress: {err!r}")


def main():
    global args
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "compiler"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("data", "source", "work"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    parser.add_argument("rows", nargs="+")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in args.rows:
        row = globals().get(name)
        if not callable(row):
            print(f"no such row: {name}", file=sys.stderr)
            return 2
        try:
            row()
            print(f"ok      {name}")
        except Wrong as wrong:
            failed = 1
            print(f"FAILED  {name}: {wrong}")
    return failed


sys.exit(main())

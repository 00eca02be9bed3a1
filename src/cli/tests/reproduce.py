#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""`cmdq reproduce` as a user runs it: what each section's JSON must hold, that every parameter moves what it should, that
a section that fails loses no other, and that the committed result comes out again.

Usage: reproduce.py --program CMDQ --source ROOT --work FOLDER TEST
"""
import argparse
import json
import os
import subprocess
import sys

KINDS = {"input", "fitted", "chosen", "predicted"}
QUICK = ["safe", "completion", "huge-pages"]
# What a changed parameter must move: a section, and whether its figures ("rows") or only what is beside them.
MOVES = {
    "safe.": "safe", "display.": "safe", "huge.": "huge-pages", "completion.": "completion", "machine.": "completion",
}
# Twice or half of the default, where that would be refused or where 0 or -1 means "fitted".
VALUES = {"safe.max_delay_us": 500, "huge.small_share": 0.5, "safe.receive_buffers": 1, "safe.send_buffers": 1,
          "display.feed_factor": 0.5, "display.drain_factor": 2.5, "display.buffer_lines": 2, "display.burst_ns": 200000,
          "safe.line_mbit": 400, "completion.lists_per_packet": 70, "safe.cpu_us": 200, "safe.buffer_kib": 64,
          "huge.small_entries": 4, "huge.huge_entries": 2}
SIDE = {"machine.distance_ns.socket": 140, "machine.device.sync_ns": 400}
args = None


def run(*words, expect=0):
    p = subprocess.run([args.program, *map(str, words)], capture_output=True, text=True)
    if p.returncode != expect:
        sys.exit(f"cmdq {' '.join(map(str, words))}: exit {p.returncode}, expected {expect}\n{p.stdout}{p.stderr}")
    return p.stdout + p.stderr


def need(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")


def result(*words, expect=0):
    file = os.path.join(args.work, "out.json")
    run("reproduce", *words, "--json", file, expect=expect)
    with open(file, encoding="utf-8") as f:
        return json.load(f)


def check_section(name, j):
    for r in j["rows"]:
        for key in ("figure", "unit", "published", "ours", "kind", "null_models", "better_than_nulls"):
            need(key in r, f"{name}: {r} has {key}")
        need(r["kind"] in KINDS, f"{name}: kind {r['kind']}")
        if r["kind"] == "predicted":
            need(len(r["null_models"]) >= (1 if r["figure"].startswith("sync, table missing") else 2),
                 f"{name}: null models of {r['figure']}")
        low, high = r["published_low"], r["published_high"]
        off = lambda v: max(low - v, v - high, 0)
        better = r["kind"] == "predicted" and all(
            off(r["ours"]) < 0.9 * off(n) - 0.01 * abs(r["published"]) for n in r["null_models"].values())
        need(better == r["better_than_nulls"], f"{name}: better_than_nulls of {r['figure']}")
    predicted = [r for r in j["rows"] if r["kind"] == "predicted"]
    need(j["predicted"] == len(predicted), f"{name}: predicted")
    need(j["beat_nulls"] == sum(r["better_than_nulls"] for r in predicted), f"{name}: beat_nulls")
    names = [r["figure"] for r in j["rows"]]
    need(len(set(names)) == len(names), f"{name}: a figure's name twice")


def rows_have_one_form():
    for name in QUICK:
        html = os.path.join(args.work, "out.html")
        check_section(name, result(name, "--html", html))
        with open(html, encoding="utf-8") as f:
            need("<svg" in f.read(), f"{name}: a chart")


def direct_calls_do_the_same_work():
    j = result("direct-calls")
    check_section("direct-calls", j)
    if j["rows"]:
        need(j["same_work"], "every way does the same work")
        need(len(j["pair_ns"]) == 5 and len(j["operations"]) == 5, "all ways, all operations")


def every_parameter_moves_its_figure():
    base = {s: {r["figure"]: r["ours"] for r in result(s)["rows"]} for s in set(MOVES.values())}
    changed = []
    for p in json.loads(run("reproduce", "parameters", "--json", "-"))["parameters"]:
        section = next((s for prefix, s in MOVES.items() if p["name"].startswith(prefix)), None)
        if section is None:
            need(p["name"].startswith(("contention.", "calls.")), f"{p['name']} belongs to a section")
            continue
        value = VALUES.get(p["name"], 2 * p["value"])
        changed.append((section, f"{p['name']}={value}"))
    changed += [("completion", f"{n}={v}") for n, v in SIDE.items()]
    for section, assignment in changed:
        now = {r["figure"]: r["ours"] for r in result(section, "--set", assignment)["rows"]}
        need(any(abs(now[f] - v) > 1e-9 for f, v in base[section].items()), f"--set {assignment} moves a figure")


def what_is_not_a_parameter_is_refused():
    for words, says in ((["safe.cpu=1"], "expected name=value with one of safe.buffer_kib"),
                        (["safe.cpu_us"], "expected name=value"),
                        (["safe.cpu_us=nan"], "must be a number from 0 to 100000"),
                        (["display.buffer_lines=0"], "must be an integer from 1"),
                        (["display.buffer_lines=1.5"], "must be an integer"),
                        (["machine.nothing=1"], "of the machine there are machine.hold_ns"),
                        (["machine.hold_ns=-1"], "must be a number of ns")):
        need(says in run("reproduce", "safe", "--set", *words, expect=2), f"{words}: {says}")


def a_section_that_fails_loses_no_other():
    expected = os.path.join(args.work, "expected.json")
    good = result("safe")
    with open(expected, "w", encoding="utf-8") as f:
        json.dump({"safe": good}, f)
    run("reproduce", "safe", "--expect", expected)
    good["rows"][3]["ours"] *= 1.1
    with open(expected, "w", encoding="utf-8") as f:
        json.dump({"safe": good}, f)
    file = os.path.join(args.work, "failed.json")
    said = run("reproduce", "safe", "--expect", expected, "--json", file, expect=1)
    need("failed: safe: \"" in said and good["rows"][3]["figure"] in said, "the figure that is off is named")
    with open(file, encoding="utf-8") as f:
        j = json.load(f)
    need(j["complete"] and j["rows"] and "is" in j["failed"], "the section is written all the same")


def sensitivity_tells_what_moves():
    j = result("safe", "--sensitivity")
    by_name = {s["parameter"]: s for s in j["sensitivity"]}
    need(any(v["largest_change"] > 0.1 for v in by_name["safe.max_delay_us"]["varied"]), "the delay moves something")
    need("safe.line_mbit" in by_name and "display.feed_factor" in by_name, "all of the section's parameters")
    need(not any(n.startswith("huge.") for n in by_name), "and no others")


def committed_result_comes_out_again():
    expected = os.path.join(args.source, "data", "reproduced.json")
    for name in QUICK:
        run("reproduce", name, "--expect", expected)


def all_sections_and_the_committed_result():
    """Label long: a minute and more."""
    expected = os.path.join(args.source, "data", "reproduced.json")
    j = result("all", "--expect", expected)
    for name in QUICK + ["contention", "direct-calls"]:
        check_section(name, j[name])


def main():
    global args
    parser = argparse.ArgumentParser()
    for option in ("program", "source", "work"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("test")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    globals()[args.test]()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Figures in the documentation are what a command prints: reruns the deterministic ones and compares.

  rerun_figures.py --program BIN/cmdq FILE.md...     rerun and compare; exit code 1 names each figure that differs
  rerun_figures.py ... --all                         those marked "long", too
  rerun_figures.py ... --write                       put the figures of today into the tables
  rerun_figures.py --self-test

A table that holds figures has a comment before it, one line of JSON:

  <!-- figures {"run": "simulate contention --cpus 32,64 --time 3000000", "rows": ["strategy"], "columns": "cpus",
                "value": "per_cpu_per_second"} -->

"run": options of the program, which is given `--json -` as well, or "file": a committed result file. "list": the
array in the result (default "rows"). "where": what its elements must have. "rows": the fields that the first cells of a
table's row name, "columns": the field that the other column heads name (`32 CPUs` names 32); without it each head names
a field itself. "value": the field shown, divided by that of the row "over", if given. "long": only with --all. A cell
must be its value rounded to the digits it shows; one that is empty, or has no number, is skipped, but a table has at
least one figure."""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

MARK = re.compile(r"<!-- figures (\{.*?\}) -->", re.S)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Runs:
    def __init__(self, program):
        self.program, self.done = program, {}

    def rows(self, spec, folder):
        source = spec.get("run") or spec["file"]
        if source not in self.done:
            if "file" in spec:
                text = (folder / spec["file"]).read_text()
            else:
                command = [self.program, *shlex.split(source), "--json", "-"]
                run = subprocess.run(command, capture_output=True, text=True)
                if run.returncode != 0:
                    raise SystemExit(f"{source}: exit code {run.returncode}: {run.stderr.strip()}")
                text = run.stdout
            self.done[source] = json.loads(text)
        rows = self.done[source][spec.get("list", "rows")]
        where = spec.get("where", {})
        return [r for r in rows if all(r.get(k) == v for k, v in where.items())]


def same(name, value):
    """Does the text in a table name this value of a field?"""
    text = name.strip().strip("`")
    if isinstance(value, str):
        return text == value
    found = NUMBER.search(text)
    return found is not None and float(found.group()) == value


def value_of(rows, spec, labels, head):
    def find(named):
        for r in rows:
            in_column = "columns" not in spec or same(head, r[spec["columns"]])
            if in_column and all(same(n, r[k]) for n, k in zip(named, spec["rows"])):
                return r[spec["value"] if "columns" in spec else head.strip().strip("`")]
        return None
    value = find(labels)
    if value is None or "over" not in spec:
        return value
    other = find([spec["over"], *labels[1:]])
    return None if other is None else value / other


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def check_table(lines, spec, rows):
    """The table's lines with today's figures, and what was wrong: (line in the table, cell, figure)."""
    heads, out, wrong, seen = cells(lines[0]), lines[:2], [], 0
    first = len(spec["rows"])
    for number, line in enumerate(lines[2:], 2):
        row = cells(line)
        for i in range(first, len(row)):
            shown = NUMBER.search(row[i])
            if shown is None:
                continue
            value = value_of(rows, spec, row[:first], heads[i])
            if value is None:
                wrong.append((number, row[i], "no such figure"))
                continue
            seen += 1
            digits = len(shown.group().partition(".")[2])
            today = f"{value:.{digits}f}"
            if today != shown.group():
                wrong.append((number, row[i], today))
            row[i] = row[i][:shown.start()] + today + row[i][shown.end():]
        out.append("| " + " | ".join(row) + " |")
    if seen == 0:
        wrong.append((0, lines[0], "no figure in this table"))
    return out, wrong


def check_file(path, runs, everything, write):
    text, bad, checked = path.read_text(), [], 0
    for mark in list(MARK.finditer(text))[::-1]:
        spec = json.loads(mark.group(1))
        if spec.get("long") and not everything:
            continue
        begin = text.index("|", mark.end())
        table = re.match(r"(?:\|[^\n]*\n)+", text[begin:]).group()
        lines, wrong = check_table(table.rstrip("\n").split("\n"), spec, runs.rows(spec, path.parent))
        first = text.count("\n", 0, begin) + 1
        bad += [f"{path}:{first + n}: {cell}: {today} ({spec.get('run') or spec['file']})" for n, cell, today in wrong]
        checked += 1
        if write:
            text = text[:begin] + "\n".join(lines) + "\n" + text[begin + len(table):]
    if write:
        path.write_text(text)
    return checked, bad


def self_test():
    table = ('<!-- figures {"run": "x", "rows": ["strategy"], "columns": "cpus", "value": "rate", "over": "b"} -->\n\n'
             "| of | 2 CPUs | 4 |\n| --- | --- | --- |\n| `a` | 1.50 | 2.0 % |\n")
    result = {"rows": [{"strategy": s, "cpus": c, "rate": r} for s, c, r in
                       (("a", 2, 3), ("a", 4, 8), ("b", 2, 2), ("b", 4, 4))]}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        program.write_text("#!/bin/sh\ncat <<'E'\n" + json.dumps(result) + "\nE\n")
        program.chmod(0o755)
        page = pathlib.Path(folder) / "page.md"

        def wrong_in(text):
            page.write_text(text)
            return len(check_file(page, Runs(program), False, False)[1])

        expected = [(table, 0), (table.replace("1.50", "1.51"), 1), (table.replace("1.50", "1.6"), 1),
                    (table.replace("`a`", "c"), 3), (table.replace("2 CPUs", "3 CPUs"), 1),
                    (table.replace("1.50", "").replace("2.0 %", "-"), 1),
                    (table.replace('"x"', '"x", "long": true').replace("1.50", "9"), 0)]
        for text, count in expected:
            if wrong_in(text) != count:
                raise SystemExit(f"{wrong_in(text)} in place of {count} wrong figures in:\n{text}")
        page.write_text(table.replace("1.50", "7.77"))
        check_file(page, Runs(program), False, True)
        if page.read_text() != table:
            raise SystemExit(f"not the figures of today:\n{page.read_text()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="the program cmdq")
    parser.add_argument("--all", action="store_true", help="also what is marked long")
    parser.add_argument("--write", action="store_true", help="write the figures of today")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    runs, checked, bad = Runs(options.program), 0, []
    for f in options.files:
        n, wrong = check_file(f, runs, options.all, options.write)
        checked, bad = checked + n, bad + wrong
    print("\n".join(bad) if bad else f"{checked} tables are what their commands print")
    if checked == 0:
        sys.exit("no table of figures was found")
    sys.exit(1 if bad and not options.write else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the score in src/cli/reproduce/README.md, and every sentence of README.md that tells of it, to
data/reproduced.json. Usage: figures.py ROOT | --self-test"""
import json
import re
import sys
from pathlib import Path


def table(result):
    rows = []
    total = [0, 0, 0, 0]
    for name, section in result.items():
        if not isinstance(section, dict) or "rows" not in section:
            continue
        n, predicted = len(section["rows"]), section["predicted"]
        row = [n, n - predicted, predicted, section["beat_nulls"]]
        total = [a + b for a, b in zip(total, row)]
        rows.append(f"| {name} | {' | '.join(map(str, row))} |")
    return rows + [f"| all | {' | '.join(map(str, total))} |"], total


def complaints(section_readme, readme, result):
    rows, total = table(result)
    out = [f"src/cli/reproduce/README.md: no line \"{r}\"" for r in rows if r not in section_readme.split("\n")]
    for n, better in re.findall(r"(\d+) predicted figures?[^.\n]*?(\d+) (?:of them )?(?:are )?better", readme):
        if [int(n), int(better)] != total[2:]:
            out.append(f"README.md: {n} predicted, {better} better; data/reproduced.json has {total[2]} and {total[3]}")
    return out


def self_test():
    result = {"version": "1", "safe": {"rows": [1, 2, 3], "predicted": 2, "beat_nulls": 1}}
    good = "| safe | 3 | 1 | 2 | 1 |\n| all | 3 | 1 | 2 | 1 |"
    assert not complaints(good, "2 predicted figures, 1 of them better", result)
    assert complaints(good.replace("| 2 | 1 |", "| 2 | 2 |", 1), "", result)
    assert complaints(good, "2 predicted figures, 2 of them better", result)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    found = complaints((root / "src/cli/reproduce/README.md").read_text(encoding="utf-8"),
                       (root / "README.md").read_text(encoding="utf-8"),
                       json.loads((root / "data/reproduced.json").read_text(encoding="utf-8")))
    print("\n".join(found) or "all figures as in data/reproduced.json")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What README.md says of the tree is so: its example is the compiled one, its paths exist. readme.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
readme = (root / "README.md").read_text()
wrong = []

example = (root / "examples/hosted/main.cpp").read_text()
blocks = re.findall(r"```cpp\n(.*?)```", readme, re.S)
if not blocks or blocks[0].strip() not in example:
    wrong.append("the first C++ block is not, word for word, a part of examples/hosted/main.cpp")

for path in re.findall(r"`((?:include|src|scripts|examples|property_tests|model_checks|bench|data|cmake)/[\w./-]*)`", readme):
    if not (root / path).exists():
        wrong.append(f"`{path}` does not exist")
for path in re.findall(r"\]\(([\w./-]+)\)", readme):
    if not (root / path).exists():
        wrong.append(f"link to {path}: no such file")

print("\n".join(wrong) if wrong else "README.md agrees with the tree")
sys.exit(1 if wrong else 0)

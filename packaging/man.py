#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Man pages and shell completion from what a program says of itself.

man.py PROGRAM FOLDER: asks PROGRAM and each of its subcommands for --help, and writes FOLDER/NAME.1, a page
FOLDER/NAME-SUBCOMMAND.1 for each of them, and FOLDER/NAME.bash. Nothing is written by hand, so nothing goes stale.
"""
import pathlib
import re
import subprocess
import sys

ENTRY = re.compile(r"^  (\S.*?)(?:  +(.*))?$")


class Help:
    """One --help of CLI11: purpose, usage, sections of (names, text), and what stands behind them."""

    def __init__(self, program, path):
        text = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True).stdout
        self.path = path
        head, _, rest = text.partition("Usage: ")
        self.usage, _, rest = rest.partition("\n")
        self.sections = {}
        self.footer = []
        self.purpose = " ".join(head.split())
        section = None
        for line in rest.splitlines():
            title = re.match(r"^([A-Z]\w*):$", line)
            entry = ENTRY.match(line)
            if title:
                section = self.sections.setdefault(title.group(1), [])
            elif section is not None and line.startswith("      ") and section:
                section[-1][1] += " " + line.strip()
            elif section is not None and entry:
                section.append([entry.group(1), entry.group(2) or ""])
            elif line.strip():
                section = None
                self.footer.append(line.strip())

    def subcommands(self):
        return [names for names, _ in self.sections.get("Subcommands", [])]

    def options(self):
        found = []
        for names, _ in self.sections.get("Options", []):
            found += [re.split(r"[=\s]", name)[0] for name in names.split(",")]
        return [name for name in found if name.startswith("-")]

    def values(self):
        """Option -> the words that it takes, where the help lists them."""
        found = {}
        for names, text in self.sections.get("Options", []):
            listed = re.search(r"(?:a list of|:) ((?:[a-z0-9_/-]+, )+[a-z0-9_/-]+)(?:\s|$)", text)
            option = re.split(r"[=\s,]", names)[0]
            if listed and option.startswith("--"):
                found[option] = listed.group(1).split(", ")
        return found


def tree(program, path=()):
    page = Help(program, list(path))
    pages = [page]
    for name in page.subcommands():
        pages += tree(program, (*path, name))
    return pages


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("\n.", "\n\\&.")


def manual(page, name, version, others):
    full = "-".join([name, *page.path])
    lines = [f'.TH {full.upper()} 1 "" "{version}" "{name}"', ".SH NAME"]
    purpose = re.sub(rf"^{name}: ", "", page.purpose)
    lines.append(f"{roff(full)} \\- {roff(purpose[:1].lower() + purpose[1:])}")
    lines += [".SH SYNOPSIS", f".B {roff(page.usage)}"]
    if page.footer:
        lines += [".SH DESCRIPTION", roff(" ".join(page.footer))]
    for title, entries in page.sections.items():
        lines.append(f".SH {title.upper()}")
        for names, text in entries:
            lines += [".TP", f".B {roff(names)}", roff(text)]
    lines += [".SH EXIT STATUS", "0: done, and all checks passed. 1: a check failed. 2: something was refused, or could not be read or "
              "written. 130: interrupted; what there was is printed."]
    also = [other for other in others if other != full and (other.startswith(full + "-") or full.startswith(other + "-"))]
    if also:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in also)]
    return "\n".join(lines) + "\n"


def completion(pages, name):
    words = {}
    cases = []
    for page in pages:
        key = " ".join([name, *page.path])
        words[key] = " ".join(page.subcommands() + page.options())
        cases += [f'    "{key} {option}") COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$word")); return ;;'
                  for option, values in page.values().items()]
    branches = [f'    "{key}") COMPREPLY=($(compgen -W "{value}" -- "$word") $(compgen -f -- "$word")) ;;'
                for key, value in words.items()]
    known = " ".join(f'"{key}"' for key in words)
    return "\n".join([
        "# Completion of " + name + " in bash.",
        f"_{name.replace('-', '_')}() {{",
        '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=$1 i next known',
        "  COMPREPLY=()",
        f"  at={name}",
        "  for ((i = 1; i < COMP_CWORD; ++i)); do",
        '    next="$at ${COMP_WORDS[i]}"',
        f"    for known in {known}; do",
        '      [ "$next" = "$known" ] && at=$next',
        "    done",
        "  done",
        '  case "$at $before" in',
        *cases,
        "  esac",
        '  case "$at" in',
        *branches,
        "  esac",
        "}",
        f"complete -F _{name.replace('-', '_')} {name}",
        ""])


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: man.py PROGRAM FOLDER")
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    name = pathlib.Path(program).name
    said = subprocess.run([program, "--version"], capture_output=True, text=True)
    version = said.stdout.strip() if said.returncode == 0 else name
    pages = tree(program)
    names = ["-".join([name, *page.path]) for page in pages]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}*.1"):
        old.unlink()
    for page, full in zip(pages, names):
        (folder / f"{full}.1").write_text(manual(page, name, version, names))
    (folder / f"{name}.bash").write_text(completion(pages, name))
    print(f"{len(pages)} man pages of {name}")


main()

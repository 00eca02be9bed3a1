#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Rules that a compiler does not check. rules.py ROOT checks a tree, rules.py --self-test checks the rules."""
import pathlib
import re
import sys
import tempfile

# The include arrow: what each part of include/cmdq may include besides itself. What all strategies stand on (options,
# memory, ring, errors) lies in the folder of the queue, but below them: the part "ring". What the queue asks of a
# device family lies in the family's folder, and below the queue: the part "family". One header of the queue names the
# family that is taken where none is named: the part "default".
BASE = {"core", "platform"}
RING = BASE | {"wait", "locks", "stats", "ring", "default"}
QUEUE = RING | {"reclaim", "completion", "allocation", "queue"}
ARROW = {
    "core": set(),
    "platform": {"core"},
    "wait": BASE | {"stats"},
    "stats": BASE,
    "locks": BASE | {"wait", "stats"},
    "family": BASE,
    "default": {"family"},
    "ring": BASE | {"wait", "stats", "default"},
    "reclaim": RING,
    "completion": RING,
    "allocation": RING | {"reclaim", "completion"},
    "queue": QUEUE,
    "multi": QUEUE | {"smmuv3", "family"},
    "dma": QUEUE | {"smmuv3", "family", "multi"},
    "model": BASE | {"family"},
    "c": set(),
    "cmdq.hpp": QUEUE,
}
FAMILIES = {"smmuv3", "vtd", "amdvi", "riscv"}
for name in FAMILIES:
    ARROW[name] = QUEUE | {"family"}
    ARROW["model"] = ARROW["model"] | {name}
FAMILY_HEADERS = {"family.hpp", "wire.hpp", "limits.hpp", "errors.hpp", "error_bits.hpp", "acknowledge.hpp",
                  "device_type.hpp", "registers.hpp"}
# Where no family is in sight: neither its name, nor an opcode, nor a register's layout.
WITHOUT_FAMILY = {"core", "ring", "queue", "allocation", "completion", "reclaim", "wait", "locks", "multi"}
OF_A_FAMILY = re.compile(r"\b(%s)\b|opcode|\bc?g?error::|\bmake_(msi_)?sync\b|\bsync_signal\b|\bcons_error\b"
                         r"|\b0x46U?\b|\b(read|write)_(gerrorn?|fsts)\b" % "|".join(sorted(FAMILIES)))
RING_HEADERS = {"queue/options.hpp", "queue/ring.hpp", "queue/errors.hpp", "queue/producer_cell.hpp",
                "queue/gather_group.hpp", "queue/left_work.hpp", "queue/patience.hpp", "queue/mailbox.hpp",
                "queue/tail_writer.hpp"}
HOSTED = {"platform/hosted.hpp", "platform/hosted_processes.hpp", "platform/boost_atomic.hpp", "platform/std_atomic.hpp",
          "platform/hosted_signals.hpp", "platform/hosted_cpus.hpp"}
FREESTANDING = {"stddef.h", "stdint.h"}
C_ONLY = {"stdbool.h"}

MEMORY_ORDER = re.compile(r"\bmemory_order\b|\bmemory_order_\w+|__ATOMIC_[A-Z]+")
NOT_IN_HEADERS = re.compile(r"\b(throw|try|catch|dynamic_cast|typeid|malloc|delete)\b(?!\s*;)|\bnew\s+\w+|\bstd::j?thread\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
SOURCES = {".hpp", ".cpp", ".h", ".c", ".S", ".ld", ".py", ".sh", ".cmake"}


def part_of(header):
    folder, _, name = header.partition("/")
    if header == "queue/default_family.hpp":
        return "default"
    if folder in FAMILIES and name in FAMILY_HEADERS:
        return "family"
    return "ring" if header in RING_HEADERS else folder


def code_lines(path):
    """Lines without // comments and string literals, which may speak of anything."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        yield number, re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def check_includes(path, header):
    part = part_of(header)
    folder = header.split("/")[0]
    if part not in ARROW:
        yield 1, f"include/cmdq/{part} is no part that the include arrow knows"
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        included = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not included:
            continue
        name = included.group(1)
        if not name.startswith("cmdq/"):
            if header not in HOSTED and name not in FREESTANDING | (C_ONLY if part == "c" else set()):
                yield number, f"<{name}>: only {sorted(FREESTANDING)} and cmdq headers outside {sorted(HOSTED)}"
            continue
        other = part_of(name[len("cmdq/"):])
        if other != part and other not in ARROW[part]:
            yield number, f"{part} includes {other}: the arrow allows {sorted(ARROW[part])}"
        to = name[len("cmdq/"):].split("/")[0]
        if folder in FAMILIES and to in FAMILIES and to != folder:
            yield number, f"<{name}>: families do not know each other"
        if part == "platform" or part == "cmdq.hpp":
            continue
        if name[len("cmdq/"):] in HOSTED:
            yield number, f"<{name}>: only the umbrella header brings hosted parts in"


def check_header(path, header):
    yield from check_includes(path, header)
    for number, line in code_lines(path):
        found = NOT_IN_HEADERS.search(line)
        if found and "= delete" not in line:
            yield number, f"'{found.group(0)}': no exceptions, RTTI, heap or threads in include/"
        known = OF_A_FAMILY.search(line) if part_of(header) in WITHOUT_FAMILY else None
        if known and not line.lstrip().startswith("#"):
            yield number, f"'{known.group(0)}': only a device family's own folder knows that"
        if part_of(header) != "platform" and MEMORY_ORDER.search(line):
            yield number, f"'{MEMORY_ORDER.search(line).group(0)}': name an ordering site"


def check_text(path, relative):
    text = path.read_text()
    if "SPDX-License-Identifier: BSL-1.0" not in "\n".join(text.splitlines()[:2]):
        yield 1, "the SPDX line is missing from the top"
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line) and relative != "scripts/checks/rules.py":
            yield number, f"'{UNFINISHED.search(line).group(0)}': finish it"
    if relative.startswith("src/") and path.suffix in {".hpp", ".cpp"}:
        for number, line in code_lines(path):
            if MEMORY_ORDER.search(line):
                yield number, f"'{MEMORY_ORDER.search(line).group(0)}': name an ordering site"


def sources(root):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if not path.is_file() or relative.parts[0] in {"build", ".git", "data"}:
            continue
        if path.suffix in SOURCES or path.name == "CMakeLists.txt" or relative.parts[0] in {"scripts", ".ci"}:
            if path.suffix not in {".pyc", ".md"}:
                yield path, relative.as_posix()


def check_tree(root):
    found = []
    for path, relative in sources(root):
        problems = list(check_text(path, relative))
        if relative.startswith("include/cmdq/"):
            problems += check_header(path, relative[len("include/cmdq/"):])
        found += [f"{relative}:{number}: {what}" for number, what in problems]
    return found


SPDX = "// SPDX-License-Identifier: BSL-1.0\n"
SELF_TEST = [  # file, text, what must be said; None: nothing
    ("include/cmdq/core/a.hpp", SPDX + "#include <stdint.h>\n// throw new memory_order_relaxed\n", None),
    ("include/cmdq/core/a.hpp", "#pragma once\n", ":1: the SPDX line is missing"),
    ("include/cmdq/core/a.hpp", SPDX + "#include <cmdq/platform/b.hpp>\n", ":2: core includes platform"),
    ("include/cmdq/wait/a.hpp", SPDX + "#include <cmdq/queue/ring.hpp>\n", ":2: wait includes ring"),
    ("include/cmdq/completion/a.hpp", SPDX + "#include <cmdq/queue/errors.hpp>\n", None),
    ("include/cmdq/completion/a.hpp", SPDX + "#include <cmdq/queue/command_queue.hpp>\n", ":2: completion includes queue"),
    ("include/cmdq/allocation/a.hpp", SPDX + "#include <cmdq/queue/config.hpp>\n", ":2: allocation includes queue"),
    ("include/cmdq/queue/a.hpp", SPDX + "#include <cmdq/smmuv3/b.hpp>\n", ":2: queue includes smmuv3"),
    ("include/cmdq/queue/default_family.hpp", SPDX + "#include <cmdq/smmuv3/family.hpp>\nusing f = smmuv3::family;\n", None),
    ("include/cmdq/queue/ring.hpp", SPDX + "#include <cmdq/smmuv3/family.hpp>\n", ":2: ring includes family"),
    ("include/cmdq/smmuv3/wire.hpp", SPDX + "#include <cmdq/queue/ring.hpp>\n", ":2: family includes ring"),
    ("include/cmdq/queue/ring.hpp", SPDX + "if (opcode_of(c) == 0) return;\n", ":2: 'opcode': only a device"),
    ("include/cmdq/allocation/a.hpp", SPDX + "put(make_sync(x));\n", ":2: 'make_sync': only a device"),
    ("include/cmdq/core/a.hpp", SPDX + "if (w == 0x46) return;  // opcode\n", ":2: '0x46': only a device"),
    ("include/cmdq/completion/a.hpp", SPDX + "device.read_gerror();\n", ":2: 'read_gerror': only a device"),
    ("include/cmdq/multi/a.hpp", SPDX + "smmuv3::fit(o);\n", ":2: 'smmuv3': only a device"),
    ("include/cmdq/wait/a.hpp", SPDX + "// the SMMUv3's opcode\n", None),
    ("include/cmdq/dma/a.hpp", SPDX + "smmuv3::fit(o);\n", None),
    ("include/cmdq/model/a.hpp", SPDX + "#include <cmdq/queue/ring.hpp>\n", ":2: model includes ring"),
    ("include/cmdq/extra/a.hpp", SPDX, "include/cmdq/extra is no part"),
    ("include/cmdq/core/a.hpp", SPDX + "#include <atomic>\n", ":2: <atomic>: only"),
    ("include/cmdq/core/a.hpp", SPDX + "#include <string.h>\n", ":2: <string.h>: only"),
    ("include/cmdq/platform/std_atomic.hpp", SPDX + "#include <atomic>\n", None),
    ("include/cmdq/queue/a.hpp", SPDX + "#include <cmdq/platform/hosted.hpp>\n", ":2: <cmdq/platform/hosted.hpp>: only the umbrella"),
    ("include/cmdq/queue/a.hpp", SPDX + "x.load(std::memory_order_acquire);\n", ":2: 'memory_order_acquire'"),
    ("include/cmdq/queue/a.hpp", SPDX + "__atomic_load_n(&x, __ATOMIC_ACQUIRE);\n", ":2: '__ATOMIC_ACQUIRE'"),
    ("include/cmdq/platform/a.hpp", SPDX + "__atomic_load_n(&x, __ATOMIC_ACQUIRE);\n", None),
    ("include/cmdq/queue/a.hpp", SPDX + "throw 1;\n", ":2: 'throw'"),
    ("include/cmdq/queue/a.hpp", SPDX + "int* p = new int;\n", ":2: 'new int'"),
    ("include/cmdq/queue/a.hpp", SPDX + "std::thread t(f);\n", ":2: 'std::thread'"),
    ("include/cmdq/queue/a.hpp", SPDX + "a(const a&) = delete;\n", None),
    ("src/cli/a.cpp", SPDX + "x.load(std::memory_order::relaxed);\n", ":2: 'memory_order'"),
    ("src/cli/a.cpp", SPDX + "// TODO\n", ":2: 'TODO'"),
    ("scripts/a", "#!/bin/sh\n", ":1: the SPDX line is missing"),
]


def self_test():
    wrong = 0
    for name, text, expected in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            found = check_tree(pathlib.Path(folder))
        ok = not found if expected is None else any(expected in line for line in found)
        if not ok:
            wrong += 1
            print(f"{name} with {text!r}: expected {expected!r}, found {found}")
    print(f"{len(SELF_TEST) - wrong} passed, {wrong} failed")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if len(sys.argv) != 2:
        sys.exit("usage: rules.py ROOT | --self-test")
    found = check_tree(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "all rules kept")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

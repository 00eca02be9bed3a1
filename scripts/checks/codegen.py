#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Looks at the instructions that a compiler makes of the queue for one architecture: codegen.py ROOT CONFIGURATION [--all]
CONFIGURATION: ARCHITECTURE/COMPILER, as --list prints them. Checked, at -O2 and at -O3 (g++: with link-time optimisation):
 - before each write of CMDQ_PROD a barrier that orders what was stored in memory before a store to a device, after each
   read of CMDQ_CONS one that orders the load from a device before what is read or written in memory afterwards, with no
   access and no branch in between;
 - each access of each row of the table of orderings has an instruction, or a barrier, of at least its order;
 - the entry's stores come before PROD's, the entry's loads after CONS's, also across files;
 - nothing is called from a library of atomics.
Two things that are wrong on purpose must be found: a device without barriers and a platform without orders.
Exit codes: 0 as it must be, 1 not, 2 bad usage. Prints SKIPPED where a tool is missing.

Rules. Armv8-A and Armv7-A (Arm ARM, memory ordering and the appendix of barrier litmus tests): DMB orders accesses to
Normal and Device memory among observers of its shareability domain; the device is outer shareable, so ISH is not enough;
LD and ST name what is ordered before. LDAR/STLR and the exclusive and LSE forms with A and L are the load-acquires and
store-releases. RISC-V (unprivileged ISA, FENCE): predecessor and successor sets over i, o (accesses to I/O regions, by
their physical memory attributes) and r, w (main memory); table A.6 for the mapping of the C++ orders. x86-64 (SDM volume 3,
memory ordering): loads acquire and stores release by themselves, uncached accesses are not reordered with earlier stores;
only a store followed by a load needs a locked instruction or MFENCE, which is what sequentially consistent stores are."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-Wall", "-Wextra", "-Werror",
         "-fno-stack-protector"]
# The compiler may call these by itself.
OWN = ["memcpy", "memset", "memmove", "memcmp", "__aeabi_memcpy", "__aeabi_memset", "__aeabi_memclr", "__aeabi_memcpy4",
       "__aeabi_memcpy8", "__aeabi_memclr4", "__aeabi_memclr8", "__aeabi_memmove", "__aeabi_uldivmod", "__aeabi_uidiv",
       "__aeabi_uidivmod"]


class Insn:
    def __init__(self, address, name, args):
        self.address, self.name, self.args = address, name, args

    def __str__(self):
        return f"{self.address:x}: {self.name} {self.args}"


class Aarch64:
    tools = "aarch64-linux-gnu-"
    def load(self, i):
        return i.name.startswith("ld") or i.name.startswith("cas") or i.name.startswith("swp")

    def store(self, i):
        return i.name.startswith("st") or bool(re.match("(ldadd|ldclr|ldeor|ldset|cas|swp)", i.name))

    def on_stack(self, i):
        return bool(re.search(r"\[(sp|x29)\b", i.args))

    def branch(self, i):
        return bool(re.match(r"(b|bl|br|blr|ret|cbn?z|tbn?z|b\..*)$", i.name))

    def before_device_write(self, i):
        return i.name in ("dmb", "dsb") and i.args in ("osh", "oshst", "sy", "st")

    def after_device_read(self, i):
        return i.name in ("dmb", "dsb") and i.args in ("osh", "oshld", "sy", "ld")

    def full(self, i):
        return i.name in ("dmb", "dsb") and i.args in ("ish", "osh", "sy")

    def loads_before(self, i):
        return self.full(i) or i.name in ("dmb", "dsb") and i.args in ("ishld", "oshld", "ld")

    def atomic(self, code):
        return any(re.match(r"(ldadd|ldclr|ldeor|ldset|cas|swp|ldx|ldax)", i.name) for i in code)

    @staticmethod
    def lse(i):
        m = re.match(r"(?:ldadd|ldclr|ldeor|ldset|cas|swp)(a?)(l?)[bh]?$", i.name)
        return m.groups() if m else ("", "")

    def acquires(self, code, sc_load):
        names = ("ldar", "ldaxr") if sc_load else ("ldar", "ldapr", "ldaxr")
        return any(i.name in names or self.lse(i)[0] for i in code) or self.barrier_after(code, self.loads_before)

    def releases(self, code):
        return any(i.name in ("stlr", "stlxr") or self.lse(i)[1] for i in code) or self.barrier_before(code, self.full)

    def barrier_after(self, code, of):
        last = max((k for k, i in enumerate(code) if self.load(i)), default=None)
        return last is not None and any(of(i) for i in code[last + 1:])

    def barrier_before(self, code, of):
        first = min((k for k, i in enumerate(code) if self.store(i)), default=None)
        return first is not None and any(of(i) for i in code[:first])

    def sc_load(self, code):
        return self.acquires(code, True)

    def sc_store(self, code):
        return any(i.name == "stlr" for i in code) or (self.barrier_before(code, self.full) and self.full_after(code))

    def full_after(self, code):
        last = max((k for k, i in enumerate(code) if self.store(i)), default=None)
        return last is not None and any(self.full(i) for i in code[last + 1:])


class Arm(Aarch64):
    tools = "arm-linux-gnueabihf-"

    def load(self, i):
        return bool(re.match(r"(ldr|ldm|ldrex|vldr|pop)", i.name))

    def store(self, i):
        return bool(re.match(r"(str|stm|vstr|push)", i.name))

    def on_stack(self, i):
        return i.name in ("push", "pop") or "[sp" in i.args or i.args.startswith("sp!")

    def branch(self, i):
        return bool(re.match(r"(b|bl|bx|blx|cbn?z|b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le))(\.[nw])?$", i.name))

    def after_device_read(self, i):
        return i.name in ("dmb", "dsb") and i.args in ("osh", "sy")

    def atomic(self, code):
        return any(i.name.startswith("ldrex") for i in code)

    def acquires(self, code, sc_load):
        return self.barrier_after(code, self.full)

    def releases(self, code):
        return self.barrier_before(code, self.full)

    def barrier_before(self, code, of):
        first = min((k for k, i in enumerate(code) if re.match(r"strex", i.name)), default=None)
        if first is None:
            first = min((k for k, i in enumerate(code) if self.store(i) and not self.on_stack(i)), default=None)
        return first is not None and any(of(i) for i in code[:first])

    def barrier_after(self, code, of):
        last = max((k for k, i in enumerate(code) if self.load(i) and not self.on_stack(i)), default=None)
        return last is not None and any(of(i) for i in code[last + 1:])

    def sc_store(self, code):
        return self.barrier_before(code, self.full) and self.full_after_own(code)

    def full_after_own(self, code):
        last = max((k for k, i in enumerate(code) if self.store(i) and not self.on_stack(i)), default=None)
        return last is not None and any(self.full(i) for i in code[last + 1:])


class Riscv(Aarch64):
    tools = "riscv64-linux-gnu-"

    def load(self, i):
        return bool(re.match(r"(l[bhwd]u?$|lr\.|amo)", i.name))

    def store(self, i):
        return bool(re.match(r"(s[bhwd]$|sc\.|amo)", i.name))

    def on_stack(self, i):
        return "(sp)" in i.args or "(s0)" in i.args and i.name in ("ld", "sd")

    def branch(self, i):
        return bool(re.match(r"(b[a-z]+|j|jal|jr|jalr|ret|call|tail)$", i.name))

    @staticmethod
    def fence(i, before, after):
        if not i.name.startswith("fence") or i.name in ("fence.i", "fence.tso"):
            return False
        sets = i.args.split(",") if i.args else ["iorw", "iorw"]
        return set(before) <= set(sets[0]) and set(after) <= set(sets[1])

    def before_device_write(self, i):
        return self.fence(i, "rw", "o")

    def after_device_read(self, i):
        return self.fence(i, "i", "rw")

    def full(self, i):
        return self.fence(i, "rw", "rw")

    def loads_before(self, i):
        return self.fence(i, "r", "rw")

    def stores_after(self, i):
        return self.fence(i, "rw", "w")

    def atomic(self, code):
        return any(re.match(r"(lr\.|amo)", i.name) for i in code)

    def acquires(self, code, sc_load):
        return any(re.search(r"\.aq(rl)?$", i.name) for i in code) or self.barrier_after(code, self.loads_before)

    def releases(self, code):
        return any(re.match(r"(amo|sc\.).*rl$", i.name) for i in code) or self.barrier_before(code, self.stores_after)

    def sc_load(self, code):
        first = min((k for k, i in enumerate(code) if self.load(i)), default=0)
        return self.acquires(code, True) and any(self.full(i) for i in code[:first])

    def sc_store(self, code):
        return self.releases(code)


class X86(Aarch64):
    tools = ""

    @staticmethod
    def operands(i):
        return re.split(r",(?![^(]*\))", i.args.split("#")[0].strip())

    def memory(self, operand):
        return "(" in operand or bool(re.match(r"(%[a-z]s:)?0x[0-9a-f]+$", operand))

    def load(self, i):
        if re.match(r"(lea|nop|j|call|ret|push|pop|prefetch)", i.name):
            return False
        parts = self.operands(i)
        return any(self.memory(p) for p in parts[:-1]) or (len(parts) > 1 and self.memory(parts[-1]) and
                                                           not i.name.startswith("mov"))

    def store(self, i):
        if re.match(r"(lea|nop|j|call|ret|push|pop|cmp|test|prefetch)", i.name):
            return False
        parts = self.operands(i)
        return self.memory(parts[-1]) or (i.name.startswith(("xchg", "lock")) and any(self.memory(p) for p in parts))

    def on_stack(self, i):
        return bool(re.search(r"\(%r[sb]p\b", i.args))

    def branch(self, i):
        return bool(re.match(r"(j|call|ret)", i.name))

    before_device_write = after_device_read = None  # uncached accesses are in order

    def full(self, i):
        return i.name == "mfence" or i.name.startswith("lock") or self.exchange(i)

    def exchange(self, i):
        return i.name.startswith("xchg") and "(" in i.args

    def atomic(self, code):
        return any(i.name.startswith("lock") or self.exchange(i) for i in code)

    def acquires(self, code, sc_load):
        return True

    def releases(self, code):
        return True

    def sc_load(self, code):
        return True

    def sc_store(self, code):
        return any(self.full(i) for i in code)


ARCHES = {"aarch64": (Aarch64, ["-march=armv8-a"], "aarch64-linux-gnu"),
          "aarch64_lse": (Aarch64, ["-march=armv8.1-a"], "aarch64-linux-gnu"),
          "armv7": (Arm, ["-march=armv7-a+fp"], "arm-linux-gnueabihf"),
          "riscv64": (Riscv, ["-march=rv64gc"], "riscv64-linux-gnu"),
          "x86_64": (X86, ["-m64"], "x86_64-linux-gnu")}


class Build:
    """One architecture by one compiler, as an image whose branches are resolved."""

    def __init__(self, root, configuration, work, queues):
        self.queues = queues
        name, self.compiler = configuration.split("/")
        arch, march, triple = ARCHES[name]
        self.arch, self.work, self.here = arch(), work, root / "scripts" / "checks"
        gxx = self.compiler == "g++"
        self.driver = [arch.tools + "g++" if gxx else "clang++"] + ([] if gxx else [f"--target={triple}"]) + march
        if gxx and arch is Aarch64 and name == "aarch64":
            self.driver.append("-mno-outline-atomics")
        if not gxx and name == "armv7":
            self.driver = [d.replace("+fp", "") for d in self.driver]
        self.driver += FLAGS + [f"-I{root / 'include'}", f"-I{self.here}"]
        self.lto = gxx
        self.linker = arch.tools + "ld"
        self.objdump = arch.tools + "objdump"

    def missing(self):
        return [t for t in (self.driver[0], self.linker, self.objdump) if not shutil.which(t)]

    def run(self, command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"failed: {' '.join(str(c) for c in command)}\n{done.stderr[-4000:]}")
        return done.stdout

    def image(self, level, broken=0):
        lto = self.lto and level == "-O3"
        rows = level == "-O2" and broken != 1
        queues = 0 if broken else self.queues
        flags = [level, f"-DCMDQ_BROKEN={broken}", f"-DCMDQ_ROWS={int(rows)}", f"-DCMDQ_QUEUES={queues}"]
        flags += ["-flto"] if lto else []
        objects = []
        for source in ("codegen.cpp", "codegen_across.cpp"):
            objects.append(self.work / f"{source}{level}{broken}.o")
            self.run(self.driver + flags + ["-c", self.here / source, "-o", objects[-1]])
        out = self.work / f"image{level}{broken}"
        own = [f"--defsym={f}=0" for f in OWN]
        if lto:
            wrapped = ["-Wl,-e,0"] + [f"-Wl,{d}" for d in own]
            self.run(self.driver + flags + ["-nostdlib", "-static", *wrapped, *objects, "-o", out])
        else:
            self.run([self.linker, "-e", "0", *own, *objects, "-o", out])
        return Image(self.run([self.objdump, "-d", "--no-show-raw-insn", out]))


class Image:
    def __init__(self, text):
        self.code, self.functions, self.marks = [], {}, []
        for line in text.splitlines():
            if head := re.match(r"([0-9a-f]+) <(.+)>:$", line):
                name = head.group(2)
                if name.startswith("cmdq_mark_"):
                    self.marks.append((name, len(self.code)))
                elif not name.startswith("$"):
                    self.functions[name] = len(self.code)
            elif insn := re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(.*)", line):
                name, args = insn.group(2), insn.group(3).split(";")[0].split("//")[0].split("@")[0].strip()
                if name in ("lock", "rep", "notrack", "data16", "cs") and args:
                    more, _, args = args.partition(" ")
                    name, args = f"{name} {more}", args.strip()
                self.code.append(Insn(int(insn.group(1), 16), name, args))
        starts = sorted(self.functions.values())
        self.end = {s: e for s, e in zip(starts, starts[1:] + [len(self.code)])}
        self.targets = set()
        for i in self.code:
            if m := re.search(r"\b([0-9a-f]+) <[^>]*>", i.args):
                self.targets.add(int(m.group(1), 16))

    def body(self, name):
        start = self.functions[name]
        return self.code[start:self.end[start]]

    def where(self, index):
        name, start = max(((n, s) for n, s in self.functions.items() if s <= index), key=lambda f: f[1])
        return f"{name} at {self.code[index]}"


def device_problems(arch, image):
    """Barriers beside the marked accesses."""
    seen = {"prod": 0, "cons": 0}
    for mark, index in image.marks:
        kind = "prod" if mark.startswith("cmdq_mark_prod") else "cons"
        seen[kind] += 1
        if arch.before_device_write is None:
            continue
        if kind == "prod":
            at = next(k for k in range(index, len(image.code)) if arch.store(image.code[k]))
            for k in range(at - 1, -1, -1):
                i = image.code[k]
                if arch.before_device_write(i):
                    break
                if (arch.store(i) and not arch.on_stack(i)) or arch.branch(i) or image.code[k + 1].address in image.targets:
                    yield f"no barrier before CMDQ_PROD: {image.where(at)}"
                    break
        else:
            for k in range(index, len(image.code)):
                i = image.code[k]
                if arch.after_device_read(i):
                    break
                if ((arch.load(i) or arch.store(i)) and not arch.on_stack(i)) or arch.branch(i):
                    yield f"no barrier after CMDQ_CONS: {image.where(index)}"
                    break
    for kind, n in seen.items():
        if n == 0:
            yield f"no access to CMDQ_{kind.upper()} was found"


def row_problems(arch, image, wanted):
    """Each access has an instruction of at least its row's order."""
    rows = 0
    for name in image.functions:
        if name == "fence__seq_cst" and not any(arch.full(i) for i in image.body(name)):
            yield "the fence is no full barrier"
        parts = name.split("__")
        if parts[0] != "row":
            continue
        _, site, order, kind, _ = parts
        code = image.body(name)
        modifies = kind not in ("load", "store")
        if (kind == "load" and order in ("release", "acq_rel")) or (kind == "store" and order in ("acquire", "acq_rel")):
            continue
        rows += 1
        if modifies and not arch.atomic(code):
            yield f"{site} {kind}: not atomic"
        if order == "seq_cst" and kind == "load":
            ok = arch.sc_load(code)
        elif order == "seq_cst" and kind == "store":
            ok = arch.sc_store(code)
        else:
            ok = order not in ("acquire", "acq_rel", "seq_cst") or kind == "store" or arch.acquires(code, False)
            ok = ok and (order not in ("release", "acq_rel", "seq_cst") or kind == "load" or arch.releases(code))
        if not ok:
            yield f"{site} {kind}: weaker than {order}: {'; '.join(map(str, code))}"
    if wanted and rows < 500:
        yield f"only {rows} accesses of rows were found"


def order_problems(arch, image, names):
    """The entry's accesses on the right side of the register's, by the order of the text."""
    for name in names:
        start = image.functions[name]
        own = [(n, k) for n, k in image.marks if start <= k <= image.end[start]]
        code = range(start, image.end[start])
        kind = "prod" if "prod" in name else "cons"
        if not own:
            if not any(re.match(r"(bl|call|jal|b|jmp|j)", image.code[k].name) for k in code):
                yield f"{name}: no access to CMDQ_{kind.upper()}"
            continue  # by calls, which keep their order
        mark = own[0][1]
        if kind == "prod":
            stores = [k for k in code if arch.store(image.code[k]) and not arch.on_stack(image.code[k])]
            if len([k for k in stores if k < mark]) < 1 or len([k for k in stores if k >= mark]) != 1:
                yield f"{name}: CMDQ_PROD is not written last"
        else:
            loads = [k for k in code if arch.load(image.code[k]) and not arch.on_stack(image.code[k])]
            if not [k for k in loads if k >= mark] or len([k for k in loads if k < mark]) > 2:
                yield f"{name}: the entry is not read after CMDQ_CONS"


def problems(build, level, broken=0):
    image = build.image(level, broken)
    names = [n for n in image.functions if n.startswith(("order__", "across__"))]
    found = list(device_problems(build.arch, image)) + list(row_problems(build.arch, image, level == "-O2" and broken != 1)) + list(
        order_problems(build.arch, image, names))
    return found, image


def check(build):
    failed = False
    for level in ("-O2", "-O3"):
        found, image = problems(build, level)
        print(f"{level}: {len(image.marks)} register accesses, {len(image.functions)} functions, {len(found)} problems")
        for problem in found[:20]:
            print("  " + problem)
        failed = failed or bool(found)
    for broken, what in ((1, "a device without barriers"), (2, "a platform without orders")):
        if broken == 1 and build.arch.before_device_write is None:
            continue  # nothing is left out: the architecture needs none
        found, _ = problems(build, "-O2", broken)
        print(f"wrong on purpose, {what}: {len(found)} problems")
        failed = failed or not found
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("configuration", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--all", action="store_true", help="queues of every strategy and completion, not of one")
    parser.add_argument("--keep", type=pathlib.Path, help="leave the objects here")
    options = parser.parse_args()
    all_of_them = [f"{a}/{c}" for a in ARCHES for c in ("g++", "clang++")]
    if options.list:
        print("\n".join(all_of_them))
        return 0
    if options.configuration not in all_of_them:
        parser.error(f"'{options.configuration}': one of {', '.join(all_of_them)}")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or pathlib.Path(temporary)
        work.mkdir(exist_ok=True)
        build = Build(options.root.resolve(), options.configuration, work, 2 if options.all else 1)
        if build.missing():
            print(f"SKIPPED: {', '.join(build.missing())} not found")
            return 0
        return 1 if check(build) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of what is installed: packages, man pages, completion. packages.py --build B ... CASE"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command, **more):
    got = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if got.returncode != 0:
        sys.exit(f"exit {got.returncode}: {' '.join(str(word) for word in command)}\n{got.stdout}{got.stderr}")
    return got.stdout


def expect(true, what):
    if not true:
        sys.exit(f"not so: {what}")


def packages_serve_a_user(o):
    """Makes the packages, puts their content into an empty root, and uses that: program, C++ and C project."""
    if not shutil.which("dpkg-deb"):
        print("SKIPPED: needs dpkg-deb")
        return
    run(o.cpack, "--config", o.build / "CPackConfig.cmake", "-B", o.work / "packages")
    packages = sorted((o.work / "packages").glob("*.deb"))
    names = [run("dpkg-deb", "--field", p, "Package").strip() for p in packages]
    expect(names == ["cmdq-doc", "cmdq-tools", "libcmdq-dev"], f"packages are {names}")
    root = o.work / "root"
    for package in packages:
        # No file of one is a file of another, so that dpkg would take them together.
        for line in run("dpkg-deb", "--contents", package).splitlines():
            path = root / line.split()[5]
            expect(not path.is_file(), f"{package.name}: {path} is in two packages")
        run("dpkg-deb", "--extract", package, root)
    expect("Boost" not in run("dpkg-deb", "--field", packages[2], "Depends"), "the headers depend on nothing")
    tool = root / "usr/bin/cmdq"
    expect(run(tool, "--version").startswith("cmdq "), "the program runs")
    expect("TLBI_NH_VA" in run(tool, "encode", "TLBI_NH_VA", "asid=7") + run(tool, "decode", "0x7000000000012", "0"),
           "the program works")
    expect((root / "usr/share/man/man1/cmdq-replay.1").is_file() or (root / "usr/share/man/man1/cmdq-replay.1.gz").is_file(),
           "man page of a subcommand")
    expect(not list((root / "usr/share/cmake").rglob("*.py")), "only package files")
    for project in ("installed", "c"):
        folder = o.work / project
        shutil.copytree(o.source / "examples" / project, folder / "source")
        shutil.copytree(o.source / "examples/hosted", folder / "hosted")
        run(o.cmake, "-S", folder / "source", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={root}/usr",
            "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
        run(o.cmake, "--build", folder / "build")
        run(folder / "build/app")
    print(f"{len(packages)} packages, a program, a C++ and a C project")


def helps(o, path=()):
    text = run(o.program, *path, "--help")
    yield path, text
    below = text.partition("Subcommands:\n")[2]
    for name in re.findall(r"^  ([a-z-]+) ", below, re.M):
        yield from helps(o, (*path, name))


def man_pages_name_every_option(o):
    run(sys.executable, o.source / "packaging/man.py", o.program, o.work)
    pages = 0
    for path, text in helps(o):
        page = (o.work / ("-".join(["cmdq", *path]) + ".1")).read_text().replace("\\-", "-")
        for option in re.findall(r"^  (?:-h,)?(--[a-z-]+)", text, re.M):
            expect(option in page, f"{option} is in the man page of cmdq {' '.join(path)}")
        pages += 1
    expect(pages > 10, f"{pages} pages")
    if shutil.which("man"):
        said = subprocess.run(["man", "--warnings", "-l", "-Tutf8", str(o.work / "cmdq-replay.1")], capture_output=True,
                              text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
        expect(said.returncode == 0 and not said.stderr, f"man shows it without a warning: {said.stderr}")
    print(f"{pages} man pages")


def completion_offers_what_help_names(o):
    run(sys.executable, o.source / "packaging/man.py", o.program, o.work)

    def offers(line):
        words = line.split(" ")
        script = (f". {o.work}/cmdq.bash; COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; "
                  "_cmdq cmdq; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return run("bash", "-c", script, cwd=o.work).split()

    expect(offers("cmdq re")[:2] == ["replay", "reproduce"], f"cmdq re: {offers('cmdq re')}")
    expect("--strategy" in offers("cmdq replay --str"), f"cmdq replay --str: {offers('cmdq replay --str')}")
    expect("combining" in offers("cmdq replay --strategy comb"), "values of an option")
    expect("contention" in offers("cmdq simulate con"), "subcommand of a subcommand")
    expect("--topology" in offers("cmdq simulate contention --top"), "options of a subcommand of a subcommand")
    print("completion works")


def main():
    p = argparse.ArgumentParser()
    for name in ("build", "work", "source"):
        p.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("cpack", "cmake", "program"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("case", choices=sorted(n for n, f in globals().items() if getattr(f, "__doc__", 0) or n.count("_") > 2))
    o = p.parse_args()
    shutil.rmtree(o.work, ignore_errors=True)
    o.work.mkdir(parents=True)
    globals()[o.case](o)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Run an image on QEMU's virt machine with an SMMUv3, and look at what came out.

Exit status: the image's own (0 ok, 1 check failed), or that of the check given after `--`, 2 bad use, 77 skipped.
"""
import argparse
import os
import re
import subprocess
import sys
import time

SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qemu", required=True, help="qemu-system-aarch64; empty when there is none")
    parser.add_argument("--image", required=True)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--thread", choices=("single", "multi"), default="multi", help="threads of the emulator")
    parser.add_argument("--timeout", type=float, default=60, help="seconds")
    parser.add_argument("--trace", help="file for the trace; kept when the run fails")
    parser.add_argument("--event", action="append", default=[], help="trace event")
    parser.add_argument("--console", help="file for the console output; it is printed as well")
    parser.add_argument("--expect-failure", metavar="REGEX",
                        help="succeed when the image or the check fails (1) and what they print matches")
    parser.add_argument("check", nargs="*", help="command that checks the trace, after --")
    return parser.parse_args()


def run_image(options):
    """Exit status and output."""
    command = [options.qemu, "-M", "virt,iommu=smmuv3,gic-version=3", "-cpu", "max", "-smp", str(options.cpus),
               "-m", "256", "-nic", "none", "-nographic", "-semihosting", "-accel", f"tcg,thread={options.thread}",
               "-kernel", options.image]
    if options.trace:
        command += ["-D", options.trace]
        for event in options.event:
            command += ["-trace", event]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=options.timeout, check=False)
        status, text = done.returncode, done.stdout
        end = f"exit status {status} after {time.monotonic() - begin:.1f} s"
    except subprocess.TimeoutExpired as late:
        status, text = 1, late.stdout or b""
        end = f"{options.image}: no end after {options.timeout} s with {options.cpus} CPUs"
    text = text.decode("utf-8", "replace").replace("\r", "") + end + "\n"
    print(text, end="")
    if options.console:
        with open(options.console, "w", encoding="utf-8") as file:
            file.write(text)
    return status, text


def run_check(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, end="")
    return done.returncode, done.stdout


def main():
    options = arguments()
    if not options.qemu:
        print("SKIPPED: qemu-system-aarch64 is not installed")
        return SKIPPED
    if not os.path.exists(options.image):
        print(f"{options.image}: not built", file=sys.stderr)
        return 2
    status, text = run_image(options)
    if options.check and (status == 0 or options.expect_failure):
        check_status, check_text = run_check(options.check)
        status, text = max(status, check_status), text + check_text
    if not options.expect_failure:
        if options.trace and status == 0:
            os.remove(options.trace)  # tens of megabytes; a failed run keeps it
        return status
    caught = status == 1 and re.search(options.expect_failure, text)
    print("caught, as it should be" if caught else f"not caught: status {status}, wanted 1 and {options.expect_failure!r}")
    return 0 if caught else 1


sys.exit(main())

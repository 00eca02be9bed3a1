#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Run an image on QEMU's virt machine with an SMMUv3, and look at what came out.

Exit status: the image's own (0 ok, 1 check failed), or that of the check given after `--`, 2 bad use, 77 skipped.
"""
import argparse
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
    parser.add_argument("--trace", help="file for the trace")
    parser.add_argument("--event", action="append", default=[], help="trace event")
    parser.add_argument("--console", help="file for the console output; it is printed as well")
    parser.add_argument("--expect-failure", action="store_true", help="succeed when the image or the check fails (1)")
    parser.add_argument("check", nargs="*", help="command that checks the trace, after --")
    return parser.parse_args()


def run_image(options):
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
    except subprocess.TimeoutExpired as late:
        print((late.stdout or b"").decode("utf-8", "replace"), end="")
        print(f"{options.image}: no end after {options.timeout} s with {options.cpus} CPUs")
        return 1
    text = done.stdout.decode("utf-8", "replace").replace("\r", "")
    print(text, end="")
    print(f"exit status {done.returncode} after {time.monotonic() - begin:.1f} s")
    if options.console:
        with open(options.console, "w", encoding="utf-8") as file:
            file.write(text)
    return done.returncode


def main():
    options = arguments()
    if not options.qemu:
        print("SKIPPED: qemu-system-aarch64 is not installed")
        return SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    status = run_image(options)
    # A failed image may still be looked at by the check, but it stays failed.
    if options.check and (status == 0 or options.expect_failure):
        status = max(status, subprocess.run(options.check, check=False).returncode)
    if options.expect_failure:
        print("caught, as it should be" if status == 1 else f"status {status}, but a caught failure (1) was expected")
        return 0 if status == 1 else 1
    return status


sys.exit(main())

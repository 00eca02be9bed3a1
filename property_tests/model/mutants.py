#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Breaks the model on purpose, one line at a time, and checks that its tests notice.

Each row: what is broken, the header, the text that is replaced, its replacement, and the test source that must fail.
Usage: mutants.py [--compiler g++] [--cases 300] [NAME...]   Exit codes: 0 all caught, 1 one survived, 2 usage."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MODEL = "include/cmdq/model/"
MUTANTS = [
    ("cs3_accepted", "include/cmdq/smmuv3/opcodes.hpp", "13, 12, field_kind::number, 2},\n                 field_bits{field::msh",
     "13, 12, field_kind::number, 3},\n                 field_bits{field::msh", "hardware"),
    ("ats_not_checked", MODEL + "legality.hpp", "return caps.ats;", "return true;", "hardware"),
    ("ril_not_checked", MODEL + "legality.hpp", "return caps.ril ||", "return true ||", "hardware"),
    ("asid_width_not_checked", MODEL + "legality.hpp", "!caps.asid16 &&", "false &&", "hardware"),
    ("vmid_width_not_checked", MODEL + "legality.hpp", "!caps.vmid16 &&", "false &&", "hardware"),
    ("msi_to_address_0", MODEL + "consumer.hpp", "|| address == 0)", ")", "hardware"),
    ("part_not_asked", MODEL + "legality.hpp", "|| !smmuv3::accepts(caps.part, c)", "", "rules"),
    ("cons_always_writable", MODEL + "register_file.hpp", "(v & ~cons_mask) != 0 || touched(cmdqen)",
     "(v & ~cons_mask) != 0", "hardware"),
    ("base_writable_while_enabled", MODEL + "register_file.hpp", "~field::cmdq_base::mask) != 0 || touched(cmdqen)",
     "~field::cmdq_base::mask) != 0", "registers"),
    ("cr0ack_not_awaited", MODEL + "register_file.hpp", "| cr0ack.load(at<site::device_control_read>)", "", "registers"),
    ("cr0_effect_at_once", MODEL + "consumer.hpp", "if (control_left_ < speed.cr0ack_steps)", "if (false)", "registers"),
    ("cons_starts_at_0", MODEL + "consumer.hpp", "cons_position(registers.cons.load(at<site::device_cons_read>))", "0u",
     "hardware"),
    ("goes_on_after_error", MODEL + "consumer.hpp", "|| error_active()", "", "errors"),
    ("error_skips_the_command", MODEL + "consumer.hpp", "published_ = next_;\n    registers.cons.store(shape_",
     "published_ = ++next_;\n    registers.cons.store(shape_", "errors"),
    ("gerror_set_not_toggled", MODEL + "consumer.hpp",
     "registers.gerror.fetch_xor(bit, at<site::device_gerror_write>)",
     "registers.gerror.fetch_or(bit, at<site::device_gerror_write>)", "errors"),
    ("error_code_lost", MODEL + "consumer.hpp", "error_code_ = static_cast<uint32_t>(why);", "error_code_ = 0;", "errors"),
    ("abort_once_too_few", MODEL + "behaviour.hpp", "if (times == 0) return false;", "if (times <= 1) return false;",
     "errors"),
    ("atc_failure_forgotten", MODEL + "consumer.hpp", "if (sync && atc_.report())", "if (false)", "errors"),
    ("atc_any_stream", MODEL + "behaviour.hpp", "if (plan.dead[i].sid == sid)", "if (true)", "errors"),
    ("sfm_ignored", MODEL + "hardware.hpp", "if ((bits & gerror::sfm) != 0)", "if (false)", "errors"),
    ("completion_before_effects", MODEL + "consumer.hpp", "    if (sync)\n      apply_deferred();\n    else\n",
     "    if (!sync)\n", "hardware"),
    ("effects_never_deferred", MODEL + "consumer.hpp", "if (!speed.defer_effects)", "if (true)", "hardware"),
    ("failing_msi_written", MODEL + "consumer.hpp", "bool done = !take(plan.failing_msis);",
     "bool done = true; (void)take(plan.failing_msis);", "hardware"),
    ("msi_abort_silent", MODEL + "consumer.hpp", "toggle(gerror::msi_cmdq_abt);", "{}", "hardware"),
    ("msi_always_64_bits", MODEL + "consumer.hpp", "registers.caps.part.msi_64bit ? 8 : 4", "8", "hardware"),
    ("msi_hits_upper_half", MODEL + "ring_window.hpp", "address % 8 == 4 ? 32 : 0", "32", "hardware"),
    ("lost_event_comes", MODEL + "consumer.hpp", "&& !take(plan.lost_events)", "", "hardware"),
    ("cons_leads", MODEL + "consumer.hpp", "idle_left_ = speed.cons_idle_steps;\n",
     "idle_left_ = speed.cons_idle_steps;\n    registers.cons.store(shape_.to_register(next_ + 1), "
     "at<site::device_cons_write>);\n", "steps"),
    ("cons_stays_behind", MODEL + "consumer.hpp", "if (published_ == next_) return", "if (true) return", "steps"),
    ("late_msi_dropped", MODEL + "consumer.hpp", "if (late_.full()) deliver_late();", "if (late_.full()) (void)late_.pop();",
     "steps"),
    ("fetch_twice", MODEL + "consumer.hpp", "hooks.executed(next_, current_, P::now_ns());",
     "hooks.executed(next_, current_, P::now_ns()); if (next_ % 64 == 5) hooks.executed(next_, current_, 0);", "steps"),
    ("hold_ignored", MODEL + "consumer.hpp", "if (hold.load(at<site::device_hold>) != 0)", "if (false)", "steps"),
    ("prod_not_watched", MODEL + "consumer.hpp", "|| ahead_now > shape_.entries()) ++", "&& false) ++", "steps"),
    ("kick_forgotten", MODEL + "hardware.hpp", "} while (!kicks_.compare_exchange(seen, 0, at<site::device_rest>));",
     "} while (false);\n    kicks_.store(0, at<site::device_rest>);", "threads"),
    ("time_not_spent", MODEL + "consumer.hpp", "if (ns == 0) return;", "if (ns != 1) return;", "threads"),
    ("leaf_ignored", MODEL + "iotlb.hpp", "if (e.table && c.get(field::leaf) != 0) return false;", "", "iotlb"),
    ("ttl_ignored", MODEL + "iotlb.hpp", "if (hint && !e.table && e.level != c.get(field::ttl)) return false;", "", "iotlb"),
    ("range_one_short", MODEL + "iotlb.hpp", "first + bytes - 1;", "first + bytes - 2 * 4096;", "iotlb"),
    ("num_not_plus_1", MODEL + "iotlb.hpp", "(c.get(field::num) + 1) << shift", "c.get(field::num) << shift", "iotlb"),
    ("asid_drops_global", MODEL + "iotlb.hpp", "vmid && !e.global && e.asid", "vmid && e.asid", "iotlb"),
    ("vmid_ignored", MODEL + "iotlb.hpp", "e.vmid == c.get(field::vmid)", "true", "iotlb"),
    ("ste_range_in_32_bits", MODEL + "device_caches.hpp", "2ULL << c.get(field::range)",
     "static_cast<uint32_t>(2ULL << c.get(field::range))", "device_caches"),
    ("cd_drops_all_ssids", MODEL + "device_caches.hpp", "sid && e.ssid == c.get(field::ssid)", "sid", "device_caches"),
    ("atc_global_ignored", MODEL + "device_caches.hpp", "(c.get(field::global) == 0 || !e.has_ssid)", "true",
     "device_caches"),
    ("gate_never_forces", MODEL + "safe_gate.hpp", "return {passage::forced, waited};",
     "return {passage::safe_later, waited};", "safe"),
    ("failed_switch_switches", MODEL + "safe_gate.hpp", "if (said >= 0) on_ = on;", "on_ = on;", "safe"),
    ("danger_shown_as_safe", MODEL + "display.hpp", "{safe(), danger()}", "{danger(), safe()}", "safe"),
    ("danger_not_masked", MODEL + "display.hpp", "(tables_.danger[use_] >> level()) & 1U) != 0",
     "tables_.danger[use_] >> level()) != 0", "safe"),
    ("underrun_not_counted", MODEL + "display.hpp", "if (!starving_ && real_time()) ++underruns_;", "", "safe"),
    ("mixed_batch_unseen", MODEL + "driver_rules.hpp", "now != class_", "false", "rules"),
    ("long_batch_unseen", MODEL + "driver_rules.hpp", "count_ == part.batch_limit", "false", "rules"),
    ("liar_is_honest", MODEL + "hostile.hpp", "(draw() & 0x7f000000U)", "0U", "hostile"),
]


def run(root, args, work, mutant, support):
    name, header, old, new, test = mutant
    text = (root / header).read_text()
    if text.count(old) != 1:
        return f"its text occurs {text.count(old)} times in {header}, expected 1"
    tree = work / "include"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(root / "include", tree)
    (work / header).write_text(text.replace(old, new))
    program = work / "mutant"
    build = subprocess.run(
        [args.compiler, "-std=c++20", "-O0", f"-I{tree}", f"-I{root}/property_tests",
         str(root / f"property_tests/model/{test}.cpp"), str(support), "-lrapidcheck", "-pthread", "-o", str(program)],
        capture_output=True, text=True)
    if build.returncode != 0:
        return "does not compile:\n" + build.stderr[:2000]
    env = dict(os.environ, RC_PARAMS=f"max_success={args.cases} noshrink=1")
    try:
        ran = subprocess.run([str(program)], capture_output=True, text=True, env=env, timeout=60)
    except subprocess.TimeoutExpired:
        return ""  # a device that never comes to rest is noticed by the test's time limit
    return "" if ran.returncode != 0 else f"survived {test}.cpp"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    unknown = set(args.names) - {m[0] for m in MUTANTS}
    if unknown:
        print(f"no such mutant: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    root = pathlib.Path(__file__).resolve().parents[2]
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        support = work / "support.o"
        subprocess.run([args.compiler, "-std=c++20", "-O0", f"-I{root}/property_tests", "-c",
                        str(root / "property_tests/support/main.cpp"), "-o", str(support)], check=True)
        for mutant in MUTANTS:
            if args.names and mutant[0] not in args.names:
                continue
            problem = run(root, args, work, mutant, support)
            bad += problem != ""
            print(f"{mutant[0]:<28} {'caught' if not problem else problem}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Mistakes that the compiler must explain in words. speaks.py ROOT COMPILER CASE; a case names what is compiled and what
must be said. Exit status 77: the compiler cannot build for that processor."""
import pathlib
import subprocess
import sys
import tempfile

QUEUE = """#include <cmdq/platform/mmio.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/reclaim/sync_locked.hpp>
#include <cmdq/smmuv3/device.hpp>
#include <cmdq/wait/park.hpp>
#include <cmdq/wait/wfe.hpp>
%s
struct config : %s { %s };
using queue = cmdq::command_queue<cmdq::smmuv3::device<>, config>;
void use(queue& q) { static_cast<void>(q.opts()); }
"""
BASE = "cmdq::freestanding_config"
OWN = """struct own {
  static constexpr bool claims_before_space = false, needs_range_ends = false, spreads_valid_bits = false,
                        gathers_in_groups = false, delegates = false;
  template <class Ring, class Sync, class Reclaim>
  class state : public cmdq::allocation::own_sync_wait<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim> {
    using base = cmdq::allocation::own_sync_wait<state<Ring, Sync, Reclaim>, Ring, Sync, Reclaim>;
   public:
    using base::base;
    %s
  };
};
"""
PUBLISH = "void publish(cmdq::reservation&, typename base::who&) noexcept {}"
HOST = []
UNKNOWN = ["-U__x86_64__", "-U__i386__", "-U__aarch64__"]

# name: source, more options, what must be said; None: it compiles.
CASES = {
    "sound": (QUEUE % ("", BASE, ""), HOST, None),
    "r73_sync_locked_where_lists_share_a_sync": (
        QUEUE % ("", BASE, "using reclaim = cmdq::reclaim::sync_locked;"), HOST,
        "reclaim::sync_locked counts the CMD_SYNCs of lists, and with this allocation lists share one"),
    "r73_park_on_builtins": (QUEUE % ("", BASE, "using wait = cmdq::wait::park;"), HOST,
                             "this platform cannot wait like that"),
    "r73_wfe_where_there_is_none": (QUEUE % ("", BASE, "using wait = cmdq::wait::wfe;"), HOST,
                                    "this platform cannot wait like that"),
    "r73_misspelt_field": (QUEUE % ("", BASE, "using strategy = cmdq::allocation::owner_bits;"), HOST,
                           "it is called allocation"),
    "r73_field_of_another_kind": (QUEUE % ("", BASE, "using completion = cmdq::wait::spin;"), HOST,
                                  "configuration: completion is none"),
    "r73_missing_field": (QUEUE % ("struct empty {};", "empty", ""), HOST, "configuration: a field is missing"),
    "poll_cons_where_the_head_moves_at_fetch": (
        (QUEUE % ("#include <cmdq/completion/poll_cons.hpp>\n#include <cmdq/model/vtd/hardware.hpp>", BASE,
                  "using family = cmdq::vtd::family; using completion = cmdq::completion::poll_cons;"))
        .replace("cmdq::smmuv3::device<>", "cmdq::model::vtd::hardware<cmdq::freestanding_config::platform>"), HOST,
        "the consumer's register of this family is no completion (it moves when a command is fetched): choose "
        "completion::status_word"),
    "own_strategy_without_reserve": (
        QUEUE % (OWN % PUBLISH, BASE, "using allocation = own;"), HOST, "state has no status reserve(uint32_t n, intent"),
    "own_strategy_without_publish": (
        QUEUE % (OWN % "cmdq::status reserve(uint32_t, cmdq::intent, cmdq::written, typename base::who&, "
                 "cmdq::reservation&) noexcept { return {}; }", BASE, "using allocation = own;"), HOST,
        "state has no void publish(reservation&, who&)"),
    "r70_processor_without_known_barriers": (
        "#include <cmdq/smmuv3/device.hpp>\nvoid use(cmdq::smmuv3::device<>& d) { d.write_prod(1); }\n", UNKNOWN,
        "knows no barriers between memory and a device for this processor: give smmuv3::device"),
    "r70_own_barriers": (
        "#include <cmdq/smmuv3/device.hpp>\nstruct own { static void before_write() {} static void after_read() {} };\n"
        "using device = cmdq::smmuv3::device<cmdq::platform::mmio64, own>;\n"
        "void use(device& d) { d.write_prod(1); }\n", UNKNOWN, None),
    "r71_armv6": (QUEUE % ("", BASE, ""), ["-march=armv6+fp", "-marm"], "this processor has no atomic of that size"),
    "r71_cortex_m4": (QUEUE % ("", BASE, ""), ["-mcpu=cortex-m4", "-mthumb"], "this processor has no atomic of that size"),
    "r71_armv7": (QUEUE % ("", BASE, ""), ["-march=armv7-a+fp"], None),
}


def compiled(root, compiler, source, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.cpp"
        path.write_text(source)
        command = [compiler, "-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fsyntax-only", "-Wall",
                   "-Wextra", f"-I{root}/include", *options, str(path)]
        return subprocess.run(command, capture_output=True, text=True)


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in CASES:
        sys.exit(f"usage: speaks.py ROOT COMPILER CASE; cases: {', '.join(CASES)}")
    root, compiler, name = sys.argv[1:]
    source, options, expected = CASES[name]
    if compiled(root, compiler, "int here;\n", options).returncode != 0:
        print(f"SKIPPED: {compiler} does not build for {' '.join(options)}")
        sys.exit(77)
    got = compiled(root, compiler, source, options)
    if expected is None:
        print(got.stderr)
        sys.exit(1 if got.returncode or got.stderr else 0)
    said = [line for line in got.stderr.splitlines() if "error" in line or "required" in line]
    text = " ".join(said)
    if got.returncode == 0:
        sys.exit("compiled, and should not")
    if expected not in text:
        sys.exit(f"not said: {expected}\nsaid: {text[:2000]}")
    first = next(line for line in said if "error" in line)
    if expected not in first:
        sys.exit(f"not said first: {expected}\nfirst: {first}")


main()

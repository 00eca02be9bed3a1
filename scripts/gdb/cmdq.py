# SPDX-License-Identifier: BSL-1.0
"""Pretty-printers for gdb: `source scripts/gdb/cmdq.py`, then `print queue`, `print queue.allocation_`, ...

Positions and geometry, commands and ring entries with their opcode (an SMMUv3's; other families have other names), producer
cells, and each strategy's state with its claim word taken apart. They read memory only."""
import pathlib
import re

import gdb
import gdb.printing

IN_USE = ["idle", "inside", "filling", "owing", "gone"]  # cmdq::in_use
FAULTS = ["none", "illegal", "fetch", "unanswered"]  # cmdq::fault


def number(value):
    """The integer inside an atomic of any platform: its one member, or its base, as deep as that goes."""
    value_type = value.type.strip_typedefs()
    while value_type.code == gdb.TYPE_CODE_STRUCT:
        fields = [f for f in value_type.fields() if not getattr(f, "bitpos", None) and hasattr(f, "bitpos")]
        fields = [f for f in fields if f.is_base_class is False or f.type.strip_typedefs().fields()]
        value = value[fields[0]]
        value_type = value.type.strip_typedefs()
    return int(value)


def named(names, i):
    return names[i] if i < len(names) else f"unknown {i}"


def read_opcodes():
    """From the header: debug information seldom has an enumeration that only constants use. Without it: no names."""
    header = pathlib.Path(__file__).resolve().parents[2] / "include/cmdq/smmuv3/opcodes.hpp"
    if not header.is_file():
        return {}
    return {int(code, 16): name.upper() for name, code in re.findall(r"^  (\w+) = (0x\w\w),", header.read_text(), re.M)}


OPCODES = read_opcodes()


def opcode(word0):
    return OPCODES.get(word0 & 0xff, f"opcode {word0 & 0xff:#x}")


class Text:
    def __init__(self, value):
        self.value = value


class Position(Text):
    def to_string(self):
        return f"{int(self.value.cast(gdb.lookup_type('unsigned int')))} ({int(self.value):#x})"


class Geometry(Text):
    def to_string(self):
        return f"2^{int(self.value['log2'])} = {int(self.value['size'])} entries"


class Command(Text):
    def to_string(self):
        words = self.value["word"]
        first, last = words.type.range()
        all_words = [int(words[i]) for i in range(first, last + 1)]
        return f"{opcode(all_words[0])} {' '.join(f'{w:#x}' for w in all_words)}"


class Entry(Text):
    def to_string(self):
        word0 = number(self.value["word0"])
        return f"{opcode(word0)} {word0:#x} {number(self.value['word1']):#x}"


class Cell(Text):
    def to_string(self):
        listed, error = number(self.value["waited"]), number(self.value["error"])
        text = named(IN_USE, number(self.value["use"])) + ("" if number(self.value["taken"]) else ", detached")
        text += f", list [{listed >> 32}, {listed & 0xffffffff})"
        if number(self.value["left"]["state_"]):
            text += ", left a duty"
        if error:
            text += f", untold error {named(FAULTS, error & 0xffffffff)} at {error >> 32}"
        return text


def gathered(strategy, low):
    """The lower half of a claim word, as its strategy uses it."""
    if strategy == "cmpxchg_loop":
        return "has an owner" if low & 1 else "no owner"
    if strategy == "owner_bits":
        return f"{low >> 13} lists gathered, {low & 0x1fff} of them wait"
    if strategy == "combining":
        return f"{low & 0xfff} lists gathered, {low >> 12} want a CMD_SYNC"
    if strategy == "delegated":
        return "somebody combines" if low else "nobody combines"
    return f"gathered {low:#x}"


class Strategy(Text):
    def to_string(self):
        name = re.match(r"cmdq::allocation::(\w+)::state<", self.value.type.strip_typedefs().name).group(1)
        word = number(self.value["word_"])
        return (f"{name}: claimed {word >> 32}, {gathered(name, word & 0xffffffff)}, "
                f"done {number(self.value['cons_'])}")


class Finder(gdb.printing.PrettyPrinter):
    PRINTERS = [
        (r"cmdq::geometry$", Geometry),
        (r"cmdq::command_of<", Command),
        (r"cmdq::ring_entry<.*, 2u?>$", Entry),
        (r"cmdq::producer_cell<", Cell),
        (r"cmdq::allocation::\w+::state<", Strategy),
    ]

    def __call__(self, value):
        if value.type.name == "cmdq::position":  # a typedef: before it is stripped
            return Position(value)
        name = value.type.strip_typedefs().unqualified().name or ""
        for pattern, printer in self.PRINTERS:
            if re.match(pattern, name):
                return printer(value)
        return None


gdb.printing.register_pretty_printer(None, Finder("cmdq"), replace=True)

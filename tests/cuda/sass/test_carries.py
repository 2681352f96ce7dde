"""Carries of sums: what a sum of three has beyond 32 bits is told by two predicates, and goes into the next."""

import itertools
import operator
from dataclasses import replace

import numpy as np
import pytest

from simtmm.cuda.compilers.binaries.disassembly import Disassembly
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.sass.kernel import lifted_kernel
from tests.cuda.execution.kernels import kernel
from tests.cuda.interpreter import Memory, run

ADDRESS = 1 << 20
VALUES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
BITS = 32


def lifted(lines):
    """A module of a kernel of such instructions, lifted, whose R20 and R21 have the address of what it stores."""
    lines = [f"MOV R20, {ADDRESS:#x}", "MOV R21, 0x0", *lines, "EXIT"]
    rows = [
        f"        /*{16 * number:04x}*/ {line} ; /* 0x{0:016x} */\n /* 0x{0:016x} */\n"
        for number, line in enumerate(lines)
    ]
    listing = "".join(['\t.section\t.text.k,"ax",@progbits\n', *rows])
    found = lifted_kernel(parse_module(kernel("ret;", 0)), "k", Disassembly(listing, {}, {}, {}, {}), 80, 0)
    return without_what_does_nothing(found.module)


def executed(lines, results):
    """So many words that instructions store from [R20] on, lifted and run by the plain interpreter."""
    memory, found = Memory(), np.zeros(results, np.uint32)
    memory.allocate(found, ADDRESS)
    run(lifted(lines), "k", (1, 1, 1), (1, 1, 1), [b""], memory)
    return found


def without_what_does_nothing(module):
    """A module of k alone without what stands for instructions of the machine that others carry out."""
    body = [item for item in module.functions["k"].body if getattr(item, "opcode", "label")]
    return replace(module, functions={"k": replace(module.functions["k"], body=tuple(body))})


def told(number, first, *predicates):
    """Instructions that store R4, and 1 or 0 for each predicate. number: of the result."""
    stored = [f"STG.E [R20.64+{4 * (number * (1 + len(predicates))):#x}], R4"]
    for place, predicate in enumerate(predicates, 1):
        at = 4 * (number * (1 + len(predicates)) + place)
        stored += [f"SEL R5, {first}, RZ, {predicate}", f"STG.E [R20.64+{at:#x}], R5"]
    return stored


SUMS = list(itertools.combinations_with_replacement(VALUES, 3))


def test_the_first_predicate_of_a_sum_is_that_it_carries_and_the_second_that_it_carries_twice():
    lines = ["MOV R6, 0x1"]
    for number, (a, b, c) in enumerate(SUMS):
        lines += [f"MOV R1, {a:#x}", f"MOV R2, {b:#x}", f"MOV R3, {c:#x}", "IADD3 R4, P0, P1, R1, R2, R3"]
        lines += told(number, "R6", "P0", "P1")
    expected = [[sum(of) % 2**BITS, sum(of) >> BITS >= 1, sum(of) >> BITS >= 2] for of in SUMS]
    assert {row[1] + row[2] for row in expected} == {0, 1, 2}
    assert executed(lines, 3 * len(SUMS)).reshape(-1, 3).tolist() == expected


@pytest.mark.parametrize("carried", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_both_carries_go_into_the_sum_of_the_upper_halves_and_out_of_it_again(carried):
    lines = ["MOV R6, 0x1"]
    for place, of in enumerate(carried):
        lines += [f"ISETP.NE.AND P{place}, PT, R6, {1 - of:#x}, PT"]  # holds where `of` is 1
    for number, (a, b, c) in enumerate(SUMS):
        lines += [f"MOV R1, {a:#x}", f"MOV R2, {b:#x}", f"MOV R3, {c:#x}", "IADD3.X R4, P2, P3, R1, R2, R3, P0, P1"]
        lines += told(number, "R6", "P2", "P3")
    sums = [sum(of) + sum(carried) for of in SUMS]
    expected = [[total % 2**BITS, total >> BITS >= 1, total >> BITS >= 2] for total in sums]
    assert executed(lines, 3 * len(SUMS)).reshape(-1, 3).tolist() == expected


@pytest.mark.parametrize("sign", ["-", "~"])
def test_a_difference_carries_where_nothing_is_borrowed(sign):
    """-b is ~b + 1 on the adder, so that a - b carries where a is at least b."""
    pairs = list(itertools.product(VALUES, VALUES))
    lines = ["MOV R6, 0x1"]
    for number, (a, b) in enumerate(pairs):
        lines += [f"MOV R1, {a:#x}", f"MOV R2, {b:#x}", f"IADD3 R4, P0, R1, {sign}R2, RZ", *told(number, "R6", "P0")]
    totals = [a + (b ^ 0xFFFFFFFF) + (sign == "-") for a, b in pairs]
    found = executed(lines, 2 * len(pairs)).reshape(-1, 2)
    assert found.tolist() == [[total % 2**BITS, total >> BITS] for total in totals]


COMPARISONS = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("kind", ["", ".U32"])
@pytest.mark.parametrize("lower", [", P0", ", !P0", ", !PT", ""])
def test_a_comparison_of_upper_halves_takes_what_the_lower_ones_gave(name, kind, lower):
    """What nvdisasm leaves out at the end is PT: the lower halves compare."""
    pairs = list(itertools.product(VALUES, VALUES))
    lines = ["MOV R6, 0x1", "ISETP.NE.AND P0, PT, R6, RZ, PT"]
    for number, (a, b) in enumerate(pairs):
        lines += [f"MOV R1, {a:#x}", f"MOV R2, {b:#x}", f"ISETP.{name}{kind}.AND.EX P1, P2, R1, R2, PT{lower}"]
        lines += ["MOV R4, RZ", *told(number, "R6", "P1", "P2")]
    below = lower in ("", ", P0")

    def holds(a, b):
        a, b = (value - (value >> 31 << BITS) * (not kind) for value in (a, b))
        if name in ("EQ", "NE"):
            return (a == b and below) if name == "EQ" else (a != b or below)
        return below if a == b else COMPARISONS[name](a, b)

    expected = [[0, holds(a, b), not holds(a, b)] for a, b in pairs]
    assert executed(lines, 3 * len(pairs)).reshape(-1, 3).tolist() == expected

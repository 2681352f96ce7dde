"""VIADD: sums of two halves, of four bytes, and of 32 bits, lifted and run by the plain interpreter."""

import itertools

import numpy as np
import pytest

from simtmm.cuda.ptx.syntax import Register, Vector
from simtmm.errors import SassError
from tests.cuda.sass.test_carries import executed, lifted

WORDS = (0, 1, 0x7FFF8000, 0x8000FFFF, 0xFFFF0001, 0x80FF7F01, 0xFFFFFFFF)
PAIRS = list(itertools.product(WORDS, WORDS))


@pytest.mark.parametrize(("modifier", "dtype"), [(".16x2", np.uint16), (".U8x4", np.uint8), ("", np.uint32)])
@pytest.mark.parametrize("sign", ["", "-"])
def test_each_part_of_a_register_is_added_or_taken_off_by_itself(modifier, dtype, sign):
    lines = []
    for number, (a, b) in enumerate(PAIRS):
        lines += [f"MOV R1, {a:#x}", f"MOV R2, {b:#x}", f"VIADD{modifier} R4, R1, {sign}R2"]
        lines += [f"STG.E [R20.64+{4 * number:#x}], R4"]
    a, b = (np.array(side, np.uint32).view(dtype) for side in zip(*PAIRS, strict=True))
    assert executed(lines, len(PAIRS)).tolist() == (a - b if sign else a + b).view(np.uint32).tolist()


def test_of_two_halves_the_first_may_be_taken_off_too():
    lines = ["MOV R1, 0x10002", "MOV R2, 0x30007", "VIADD.16x2 R4, -R1, R2", "STG.E [R20.64], R4"]
    assert executed(lines, 1).tolist() == [0x20005]


@pytest.mark.parametrize("operands", ["-R1, -R2", "|R1|, R2", "R1, |R2|", "R1, ~R2"])
def test_signs_that_are_not_known_of_halves_are_refused(operands):
    with pytest.raises(SassError, match=r"VIADD\.16x2"):
        executed([f"VIADD.16x2 R4, {operands}", "STG.E [R20.64], R4"], 1)


def test_what_a_launch_says_of_itself_is_a_half_of_what_is_shifted():
    """It is a special register of PTX, %ntid.x, of which no number of 64 bits is packed."""
    lines = ["MOV R1, 0x80000001", "SHF.L.W.U32.HI R4, R1, 0x4, c[0x0][0x0]", "STG.E [R20.64], R4"]
    assert executed(lines, 1).tolist() == [0x18]
    operands = [each for item in lifted(lines).functions["k"].body for each in getattr(item, "operands", ())]
    packed = [part for each in operands if isinstance(each, Vector) for part in each.parts]
    assert packed
    assert not [part for part in packed if isinstance(part, Register) and part.name.startswith("%")]

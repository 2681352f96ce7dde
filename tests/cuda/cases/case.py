"""A kernel of one instruction, what it is given, and how two runs of it are compared."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simtmm.cuda.ptx.types import bits_of
from tests.cuda.interpreter.formats import FORMATS, Format, decode, exponent_of, power_of_two

PACKED = {"f16x2": "f16", "bf16x2": "bf16", "e4m3x2": "e4m3", "e5m2x2": "e5m2"}
START, STEP = 0x10_0000, 0x1_0000


@dataclass(frozen=True)
class Bound:
    """How far from the exact result, itself rounded once, a result may be; the parts add up.

    source: the document that says so.
    """

    relative: float = 0.0
    absolute: float = 0.0
    ulps: float = 0.0
    source: str = ""


EXACT = Bound()


@dataclass(frozen=True)
class Case:
    """A kernel "k" of 1-D blocks, whose parameters are the addresses of the arrays in order.

    arrays: (type of the elements, bits at first as unsigned numbers). bound: of elements of floating-point types.
    """

    name: str
    text: str
    arrays: tuple[tuple[str, np.ndarray], ...]
    blocks: int
    threads: int
    bound: Bound = EXACT

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where the arrays stand."""
        return tuple(START + STEP * at for at in range(len(self.arrays)))

    @property
    def arguments(self) -> list[bytes]:
        """The kernel's arguments."""
        return [struct.pack("<Q", address) for address in self.addresses]

    def fresh(self) -> list[np.ndarray]:
        """Copies of the arrays, for a run."""
        return [array.copy() for _, array in self.arrays]

    def differences(self, expected: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> list[str]:
        """Every element that is not what it should be: array, place, bits before, expected and found."""
        lines = []
        for number, (kind, _) in enumerate(self.arrays):
            for at in np.flatnonzero(expected[number] != found[number]):
                right, ours = int(expected[number][at]), int(found[number][at])
                if not self._near(kind, right, ours):
                    given = [hex(int(array[at])) for _, array in self.arrays if at < len(array)]
                    lines.append(f"{self.name}: array {number} [{at}] of {kind}: {ours:#x}, not {right:#x}, of {given}")
        return lines

    def _near(self, kind: str, right: int, found: int) -> bool:
        part = PACKED.get(kind, kind)
        if part not in FORMATS:
            return False
        form = FORMATS[part]
        mask = (1 << form.bits) - 1
        return all(
            near(right >> shift & mask, found >> shift & mask, form, self.bound)
            for shift in range(0, bits_of(kind), form.bits)
        )


def near(right: int, found: int, form: Format, bound: Bound) -> bool:
    """Whether bits are equal, or both those of NaNs, or within the bound."""
    if right == found:
        return True
    a, b = decode(right, form), decode(found, form)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if bound is EXACT:
        return False
    top = decode(form.largest, form)
    if math.isinf(a) or math.isinf(b):  # at the edge: infinity counts as the number behind the largest
        a, b = (math.copysign(top, each) if math.isinf(each) else each for each in (a, b))
    exact = Fraction(a)
    exponent = max(exponent_of(abs(exact)), form.least_exponent) if exact else form.least_exponent
    ulp = power_of_two(exponent - form.precision + 1)
    allowed = Fraction(bound.relative) * abs(exact) + Fraction(bound.absolute) + (Fraction(bound.ulps) + 1) * ulp
    return abs(Fraction(b) - exact) <= allowed

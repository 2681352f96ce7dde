"""For tests of single instructions: given values in, values out."""

from collections.abc import Sequence

import numpy as np

from tests.cuda.cases.interpreted import interpreted
from tests.cuda.cases.kernel import COUNT, case
from tests.cuda.cases.values import dtype_of
from tests.cuda.interpreter.formats import FORMATS, decode, encode

Given = Sequence[int | float]


def bits(kind: str, value: int | float) -> int:
    """The bits of a number of a type; whole numbers are bits already, negative ones in two's complement."""
    if isinstance(value, float):
        return encode(value, FORMATS[kind])
    return int(value) & ((1 << 8 * np.dtype(dtype_of(kind)).itemsize) - 1)


def apply(body: str, outputs: Sequence[str], *inputs: tuple[str, Given]) -> list[list[int]]:
    """What instructions write to %x, %y, ... given %a, %b, ...: the bits, a list for each output."""
    count = max(len(given) for _, given in inputs)
    filled = [
        (kind, np.resize(np.array([bits(kind, each) for each in given], dtype_of(kind)), COUNT))
        for kind, given in inputs
    ]
    results = interpreted(case(body, body, outputs, filled))[len(inputs) :]
    return [[int(each) for each in result[:count]] for result in results]


def one(instruction: str, output: str, *inputs: tuple[str, Given]) -> list[int]:
    """What an instruction with one destination gives."""
    operands = ", ".join(["%x", *(f"%{letter}" for letter in "abcd"[: len(inputs)])])
    return apply(f"{instruction} {operands};", [output], *inputs)[0]


def reals(instruction: str, kind: str, *inputs: tuple[str, Given]) -> list[float]:
    """The same as numbers."""
    return [decode(each, FORMATS[kind]) for each in one(instruction, kind, *inputs)]

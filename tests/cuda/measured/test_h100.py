"""The execution gives what an H100 gave: exact instructions bit for bit, approximations as near as docs/ptx.md says.

The cases of tests/cuda/cases are compared where they run anyhow, in tests/cuda/execution/test_cases.py.
"""

from functools import cache

import numpy as np
import pytest

from tests.cuda.cases import every_case
from tests.cuda.cases.executed import executed
from tests.cuda.cases.kernel import COUNT, simple
from tests.cuda.interpreter.formats import FORMATS, decode
from tests.cuda.measured import functions, is_measured, known

MEASURED = dict(functions())
# Numbers of the format between ours and the GPU's, by the beginning of the name.
ULPS = {
    "rcp.approx.ftz.f64": 1 << 32, "rsqrt.approx.ftz.f64": 1 << 32, "tanh.approx.f32": 125, "rcp.approx": 1,
    "sqrt.approx": 1, "rsqrt.approx": 1, "tanh.approx": 1, "div.approx": 2, "div.full": 2, "ex2.approx": 2,
}  # fmt: skip
ABSOLUTE = {"sin.approx": 2.0**-20.5, "cos.approx": 2.0**-20.5}


@cache
def computed():
    """What the execution gives, by the instruction's name."""
    cases = []
    for name, rows in MEASURED.items():
        inputs = [(kind, np.resize(bits, COUNT)) for kind, bits in rows[:-1]]
        cases.append(simple(name, rows[-1][0], *inputs))
    found = {}
    for first in range(0, len(cases), 40):
        some = cases[first : first + 40]
        for case, arrays in zip(some, executed(some, quick=True), strict=True):
            found[case.name] = arrays[-1][: len(MEASURED[case.name][-1][1])]
    return found


def parts(kind, bits):
    """The numbers in a register, and their type."""
    part = kind.removesuffix("x2")
    width = FORMATS[part].bits
    return part, [bits >> shift & ((1 << width) - 1) for shift in range(0, width * (1 + kind.endswith("x2")), width)]


def is_nan(kind, bits):
    return any(np.isnan(decode(number, FORMATS[parts(kind, bits)[0]])) for number in parts(kind, bits)[1])


def on_a_line(bits, form):
    sign = 1 << form.bits - 1
    return -(bits & sign - 1) if bits & sign else bits


def near(name, kind, ours, theirs, operands):
    """Whether a result of an approximation is as near to the GPU's as it was found to be."""
    part, numbers = parts(kind, ours)
    form = FORMATS[part]
    for a, b in zip(numbers, parts(kind, theirs)[1], strict=True):
        x, y, argument = decode(a, form), decode(b, form), decode(operands[0], form)
        if a == b or (name.startswith(("sin", "cos")) and abs(argument) > 6.3):
            continue
        absolute = next((bound for start, bound in ABSOLUTE.items() if name.startswith(start)), None)
        if name.startswith("lg2"):
            absolute = 2.0**-22 if 0.5 < argument < 2 else 2 * 2.0**-23 * abs(x)
        if absolute is not None:
            if not abs(x - y) <= absolute:
                return False
        elif abs(on_a_line(a, form) - on_a_line(b, form)) > next(ULPS[s] for s in ULPS if name.startswith(s)):
            return False
    return True


@pytest.mark.parametrize("name", MEASURED)
def test_an_instruction_gives_what_an_h100_gave(name):
    *operands, (kind, theirs) = MEASURED[name]
    wrong = []
    for row, (ours, right) in enumerate(zip(computed()[name].tolist(), theirs.tolist(), strict=True)):
        numbers = [int(bits[row]) for _, bits in operands]
        nans = sum(is_nan(of, number) for (of, _), number in zip(operands, numbers, strict=True))
        if name.endswith(".f64") and nans > 1:  # which of them it is differs
            continue
        approximate = "approx" in name or "full" in name
        if ours != right and not (approximate and near(name, kind, ours, right, numbers)):
            wrong.append(f"{[hex(number) for number in numbers]}: {ours:#x}, on the GPU {right:#x}")
    assert wrong == []


def test_the_h100_ran_these_cases():
    """Cases that are written anew leave the comparison: measure again when these are many."""
    measured = [name for name, case in every_case().items() if name in known() and is_measured(case)]
    assert len(measured) > 0.95 * len(known())

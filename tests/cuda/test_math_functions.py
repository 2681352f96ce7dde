"""CUDA's mathematical functions, compiled by NVRTC and executed as PTX, are as near to exact ones as the guide says."""

import math
import struct
from functools import cache

import numpy as np
import pytest
from hypothesis import settings

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from tests.cuda.compilers.conftest import needs_machine_code, needs_nvrtc
from tests.cuda.documented_errors import FUNCTIONS, INF, MP
from tests.examples import DAILY, LONG

DRAWN = 24  # arguments a day, beside the special ones
ARCHITECTURE = 86
KINDS = {"float": np.float32, "double": np.float64}
CASES = [
    (number, kind)
    for number, function in enumerate(FUNCTIONS)
    for kind, call in (("float", function.single), ("double", function.double))
    if call
]

IDS = [f"{number}-{FUNCTIONS[number].name}-{kind}" for number, kind in CASES]


@cache
def module():
    """A kernel for each function and precision."""
    lines = []
    for number, kind in CASES:
        call = FUNCTIONS[number].single if kind == "float" else FUNCTIONS[number].double
        pointers = ", ".join(f"const {kind}* {name}" for name in "xyz")
        lines.append(
            f'extern "C" __global__ void k{number}_{kind}({pointers}, {kind}* out) {{ int e, i = threadIdx.x; '
            f"{kind} s, t, a = x[i], b = y[i], c = z[i]; out[i] = {call}; }}"
        )
    source = "\n".join(lines)
    return LinkedModule([compile_source(source, name="functions.cu", architecture=ARCHITECTURE)])


def called(number, kind, given, form=lambda function: function.quick):
    """What a function gives for columns of arguments. form: what runs of its kernel."""
    device, linked = Device(), module()
    device.symbols(linked)
    out = np.zeros(len(given[0]), KINDS[kind])
    arrays = [*(np.ascontiguousarray(column, KINDS[kind]) for column in given), out]
    addresses = [device.memory.place(f"a{at}", array) for at, array in enumerate(arrays)]
    launch = DeviceLaunch((1, 1, 1), (len(out), 1, 1), struct.pack("<4Q", *addresses))
    device.launch(form(KernelFunction(linked, f"k{number}_{kind}")), launch)
    return out


def arguments(function, kind):
    """Special numbers, numbers of the function's own span, and numbers of all magnitudes: three columns."""
    real, facts = KINDS[kind], np.finfo(KINDS[kind])
    count = DRAWN * settings().max_examples // DAILY
    daily = settings().max_examples == DAILY
    random = np.random.default_rng([*function.name.encode()] if daily else None)
    one, epsilon = real(1), facts.eps
    special = [
        0, facts.smallest_subnormal, facts.tiny - facts.smallest_subnormal, facts.tiny, facts.tiny * 2, 1e-5, 0.5,
        one - epsilon, one, one + epsilon, 1.5, 2, math.pi / 4, math.pi / 2, math.pi, 3, 22, 88.7, 105615, 1e15,
        facts.max / 2, facts.max, INF,
    ]  # fmt: skip
    special = np.array([*special, *(-value for value in special), math.nan], real)
    columns = []
    for place in range(3):
        low, high = function.span
        inner = random.uniform(low, high, count)
        wide = np.exp2(random.uniform(facts.minexp - 20, facts.maxexp - 1, count // 2)) * random.choice(
            [-1, 1], count // 2
        )
        own = random.permutation(special) if place else special
        column = np.concatenate([own, inner, wide if place == 0 else random.permutation(wide)]).astype(real)
        if place in function.integer:
            column = np.nan_to_num(np.rint(np.clip(column, -2200, 2200)))
        columns.append(column)
    return columns


def rounded(value, real):
    """The nearest number of a type, the even one of two."""
    if MP.isnan(value):
        return math.nan
    if MP.isinf(value) or value == 0:
        return float(value)
    facts = np.finfo(real)
    mantissa, exponent = map(int, MP.mpf(value).man_exp)
    place = max(mantissa.bit_length() + exponent - 1, facts.minexp) - facts.nmant
    shift = exponent - place
    if shift >= 0:
        whole = abs(mantissa) << min(shift, 4096)
    else:
        whole, left = divmod(abs(mantissa), 1 << -shift) if -shift < 1 << 20 else (0, 0)
        half = 1 << -shift - 1
        whole += left > half or (left == half and whole % 2 == 1)
    found = INF if whole.bit_length() + place > facts.maxexp else math.ldexp(whole, place)
    return -found if value < 0 else found


def exact(function, given, real):
    """The function's value as the type has it; None where it is not compared."""
    own = tuple(float(value) for value in given[: function.arguments])
    known = function.special.get(" ".join(map(str, own)))
    if known is not None:
        return known
    if function.infinite is not None and any(map(math.isinf, own)):
        return function.infinite
    if any(map(math.isnan, own)):
        return math.nan
    if any(math.isfinite(value) and abs(value) > function.most for value in own):
        return None
    try:
        value = MP.convert(function.exact(*map(MP.mpf, own)))
    except (ZeroDivisionError, ValueError, OverflowError, MP.NoConvergence):
        return None
    if isinstance(value, MP.mpc):
        if not all(map(math.isfinite, own)):
            return None
        value = value.real if value.imag == 0 else MP.nan
    return rounded(value, real)


def allowed(bound, own):
    return bound(*own) if callable(bound) else bound


def spacing(value, real):
    """From a number of a type to the next one that is larger in magnitude."""
    facts = np.finfo(real)
    return math.ldexp(1.0, max(math.frexp(value)[1] - 1, int(facts.minexp)) - int(facts.nmant))


def _beside_infinity(right, came, ulps, real):
    """Whether one of two numbers is infinite and the other so many ulps below it."""
    finite = min(abs(right), abs(came))
    largest = float(np.finfo(real).max)
    return right * came > 0 and math.isfinite(finite) and (largest - finite) / spacing(largest, real) + 1 <= ulps


def faults(function, kind, given, found):
    """Arguments, what came and what is right, where it is further off than documented."""
    real = KINDS[kind]
    which = 0 if kind == "float" else 1
    for *each, came in zip(*given, found, strict=True):
        right = exact(function, each, real)
        own = [float(value) for value in each[: function.arguments]]
        if right is None or allowed(function.ulps[which], own) == INF:
            continue
        if math.isnan(right) or math.isnan(came):
            good = math.isnan(right) and math.isnan(came)
        elif right == came:
            good = True
        elif any(map(math.isinf, (right, came))):
            good = all(map(math.isfinite, own))
            good = good and _beside_infinity(right, float(came), allowed(function.ulps[which], own), real)
        else:
            ulps = allowed(function.ulps[which], own)
            off = abs(float(came) - right)
            good = off <= ulps * spacing(right, real) or off <= allowed(function.absolute[which], own)
        if not good:
            yield own, float(came), right


@needs_nvrtc
@pytest.mark.parametrize(("number", "kind"), CASES, ids=IDS)
def test_a_function_is_as_near_as_documented(number, kind):
    given = arguments(FUNCTIONS[number], kind)
    assert list(faults(FUNCTIONS[number], kind, given, called(number, kind, given))) == []


@needs_machine_code
@pytest.mark.parametrize(("number", "kind"), CASES, ids=IDS)
def test_machine_code_is_as_near_as_its_ptx(number, kind):
    if settings().max_examples == DAILY and CASES.index((number, kind)) % LONG:
        pytest.skip("one in ten a day, all with --hypothesis-profile=long")
    given = arguments(FUNCTIONS[number], kind)
    found = called(number, kind, given, lambda function: MachineFunction(function).quick)
    assert list(faults(FUNCTIONS[number], kind, given, found)) == []


ODD = frozenset(
    [
        "sqrt", "cbrt", "expm1", "log1p", "sin", "tan", "sinpi", "asin", "atan", "sinh", "tanh", "asinh", "atanh",
        "erf", "erfinv", "j1", "cyl_bessel_i1", "trunc", "rint", "floor", "ceil", "round", "__dsqrt_rn",
    ]
)  # fmt: skip
"""Functions that give the zero that they are given (C, annex F, and the CUDA Math API)."""


@needs_nvrtc
@pytest.mark.parametrize(("number", "kind"), [case for case in CASES if FUNCTIONS[case[0]].name in ODD])
def test_a_zero_keeps_its_sign(number, kind):
    zeros = np.array([0.0, -0.0])
    found = called(number, kind, [zeros, zeros, zeros])
    assert found.tolist() == [0, 0]
    assert np.signbit(found).tolist() == [False, True]

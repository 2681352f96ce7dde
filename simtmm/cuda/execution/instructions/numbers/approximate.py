"""The functions of the special function unit: more exact than a GPU's, within CUDA's documented bounds.

Bounds: PTX ISA, sections on ex2, lg2, sin, cos, tanh, rsqrt, rcp and sqrt (.approx). What LLVM has no vectors for is
computed in double precision by series and rounded once.
"""

import math
from collections.abc import Sequence

from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, element_of, lanes


def approximate(context: Context, name: str, a: Value) -> Value:
    """A function of floating-point numbers: "ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "rcp", "sqrt"."""
    emit = context.emit
    one = emit.constant("1.0", a.type)
    match name:
        case "rcp":
            return emit.binary("fdiv", one, a)
        case "sqrt":
            return emit.intrinsic("llvm.sqrt", a.type, a)
        case "rsqrt" if element_of(a.type) == "double":
            return emit.binary("fdiv", one, emit.intrinsic("llvm.sqrt", a.type, a))
        case "rsqrt":
            wide = emit.cast("fpext", a, "double")
            root = emit.intrinsic("llvm.sqrt", wide.type, wide)
            return emit.cast("fptrunc", emit.binary("fdiv", emit.constant("1.0", wide.type), root), "float")
    wide = emit.cast("fpext", a, "double") if element_of(a.type) == "float" else a
    function = {"ex2": _exponential, "lg2": _logarithm, "sin": _sine, "cos": _cosine, "tanh": _tangent}[name]
    result = function(context, wide)
    return emit.cast("fptrunc", result, element_of(a.type)) if element_of(a.type) == "float" else result


def _number(value: float) -> str:
    """A constant of double precision, exactly."""
    import struct

    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _series(context: Context, x: Value, coefficients: Sequence[float]) -> Value:
    """A polynomial, the highest coefficient first."""
    emit = context.emit
    total = emit.constant(_number(coefficients[0]), x.type)
    for coefficient in coefficients[1:]:
        total = emit.intrinsic("llvm.fma", x.type, total, x, emit.constant(_number(coefficient), x.type))
    return total


def _exponential(context: Context, a: Value) -> Value:
    """2^a: 2^n by its exponent and 2^f by its series, f within half of 0."""
    emit = context.emit
    high, low = emit.constant(_number(1100.0), a.type), emit.constant(_number(-1100.0), a.type)
    bounded = emit.intrinsic("llvm.minimum", a.type, emit.intrinsic("llvm.maximum", a.type, a, low), high)
    is_nan = emit.compare("fcmp uno", a, a)
    bounded = emit.select(is_nan, emit.constant("0.0", a.type), bounded)
    whole = emit.intrinsic("llvm.rint", a.type, bounded)
    part = emit.binary("fsub", bounded, whole)
    terms = [math.log(2.0) ** n / math.factorial(n) for n in range(13)]
    power = _series(context, part, terms[::-1])
    number = emit.cast("fptosi", whole, "i32")
    # In two halves, so that neither leaves the range of exponents.
    first = emit.binary("ashr", number, emit.constant(1, number.type))
    for half in (first, emit.binary("sub", number, first)):
        raw = emit.binary("add", emit.resize(half, "i64", True), emit.constant(1023, lanes("i64")))
        scale = emit.as_type(emit.binary("shl", raw, emit.constant(52, raw.type)), a.type)
        power = emit.binary("fmul", power, scale)
    return emit.select(is_nan, a, power)


def _logarithm(context: Context, a: Value) -> Value:
    """log2 a: the exponent, and the series of atanh for a number between root 1/2 and root 2."""
    emit = context.emit
    zero = emit.constant("0.0", a.type)
    tiny = emit.compare("fcmp olt", a, emit.constant(_number(2.0**-1022), a.type))
    scaled = emit.select(tiny, emit.binary("fmul", a, emit.constant(_number(2.0**54), a.type)), a)
    raw = emit.as_type(scaled, lanes("i64"))
    shifted = emit.binary("sub", raw, emit.constant(0x3FE6A09E667F3BCD, raw.type))
    exponent = emit.binary("ashr", shifted, emit.constant(52, raw.type))
    mantissa = emit.as_type(emit.binary("sub", raw, emit.binary("shl", exponent, emit.constant(52, raw.type))), a.type)
    one = emit.constant("1.0", a.type)
    ratio = emit.binary("fdiv", emit.binary("fsub", mantissa, one), emit.binary("fadd", mantissa, one))
    square = emit.binary("fmul", ratio, ratio)
    terms = [2.0 / math.log(2.0) / (2 * n + 1) for n in range(13)]
    part = emit.binary("fmul", ratio, _series(context, square, terms[::-1]))
    whole = emit.cast("sitofp", emit.resize(exponent, "i32", True), "double")
    whole = emit.binary("fsub", whole, emit.select(tiny, emit.constant(_number(54.0), a.type), zero))
    found = emit.binary("fadd", whole, part)
    infinity = emit.constant("0x7FF0000000000000", a.type)
    found = emit.select(emit.compare("fcmp oeq", a, infinity), infinity, found)
    found = emit.select(emit.compare("fcmp oeq", a, zero), emit.constant("0xFFF0000000000000", a.type), found)
    wrong = emit.compare("fcmp ult", a, zero)
    return emit.select(wrong, emit.constant("0x7FF8000000000000", a.type), found)


def _sine(context: Context, a: Value) -> Value:
    return _turned(context, a, 0)


def _cosine(context: Context, a: Value) -> Value:
    return _turned(context, a, 1)


def _turned(context: Context, a: Value, quarter: int) -> Value:
    """sin of a, and of a quarter more: what is left of a beyond whole quarters of a turn, by its series."""
    emit = context.emit
    size = emit.intrinsic("llvm.fabs", a.type, a)
    infinite = emit.compare("fcmp uge", size, emit.constant("0x7FF0000000000000", a.type))
    # Of huge numbers less than a quarter is not known, and they count as whole turns.
    huge = emit.compare("fcmp uge", size, emit.constant(_number(2.0**52), a.type))
    safe = emit.select(huge, emit.constant("0.0", a.type), a)
    quarters = emit.intrinsic(
        "llvm.rint", a.type, emit.binary("fmul", safe, emit.constant(_number(2.0 / math.pi), a.type))
    )
    # pi/2 in three parts, the first two with zeros at their end, so that products with small numbers are exact.
    rest = safe
    for part in (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21):
        product = emit.value(f"fneg {quarters}", a.type)
        rest = emit.intrinsic("llvm.fma", a.type, product, emit.constant(_number(part), a.type), rest)
    square = emit.binary("fmul", rest, rest)
    sine = [(-1) ** n / math.factorial(2 * n + 1) for n in range(10)]
    cosine = [(-1) ** n / math.factorial(2 * n) for n in range(11)]
    of_sine = emit.binary("fmul", rest, _series(context, square, sine[::-1]))
    of_cosine = _series(context, square, cosine[::-1])
    number = emit.cast("fptosi", quarters, "i64")
    number = emit.binary("add", number, emit.constant(quarter, number.type))
    odd = emit.compare(
        "icmp ne", emit.binary("and", number, emit.constant(1, number.type)), emit.constant(0, number.type)
    )
    found = emit.select(odd, of_cosine, of_sine)
    below = emit.compare(
        "icmp ne", emit.binary("and", number, emit.constant(2, number.type)), emit.constant(0, number.type)
    )
    found = emit.select(below, emit.value(f"fneg {found}", a.type), found)
    return emit.select(infinite, emit.constant("0x7FF8000000000000", a.type), found)


def _tangent(context: Context, a: Value) -> Value:
    """tanh a = 1 - 2 / (e^2a + 1), and its series where that would cancel."""
    emit = context.emit
    twice = emit.binary("fmul", a, emit.constant(_number(2.0 / math.log(2.0)), a.type))
    power = _exponential(context, twice)
    one = emit.constant("1.0", a.type)
    ratio = emit.binary("fdiv", emit.constant("2.0", a.type), emit.binary("fadd", power, one))
    far = emit.binary("fsub", one, ratio)
    square = emit.binary("fmul", a, a)
    near = emit.binary("fmul", a, _series(context, square, [62 / 2835, -17 / 315, 2 / 15, -1 / 3, 1.0]))
    small = emit.compare("fcmp olt", emit.intrinsic("llvm.fabs", a.type, a), emit.constant(_number(0.02), a.type))
    return emit.select(small, near, far)

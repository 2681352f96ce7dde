"""CuPy's own elementwise functions and reductions as kernels, for recording them, too (--record-elementwise)."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from simtmm.scripts.cupy.code import name_of
from simtmm.scripts.cupy.device_array import count, ndarray
from simtmm.scripts.cupy.elementwise import ElementwiseKernel
from simtmm.scripts.cupy.reduction import ReductionKernel

ANY = "?bBhHiIlLqQefd"
FLOATS, WHOLE, COMPLEX = "efd", "bBhHiIlLqQ", "FD"
_FLOOR_OF_WHOLE = "(b == 0 ? 0 : a / b - ((a % b != 0) && ((a < 0) != (b < 0))))"

EXPRESSIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "add": ((ANY + COMPLEX, "a + b"),), "subtract": ((ANY + COMPLEX, "a - b"),),
    "multiply": ((ANY + COMPLEX, "a * b"),), "divide": ((FLOATS + COMPLEX, "a / b"),),
    "negative": ((ANY + COMPLEX, "-a"),), "positive": ((ANY + COMPLEX, "a"),),
    "absolute": ((FLOATS, "fabs(a)"), ("BHILQ?", "a"), (WHOLE, "a < 0 ? -a : a")), "fabs": ((FLOATS, "fabs(a)"),),
    "square": ((ANY + COMPLEX, "a * a"),), "reciprocal": ((FLOATS, "1 / a"),),
    "maximum": ((ANY, "max_of_(a, b)"),), "minimum": ((ANY, "min_of_(a, b)"),),
    "fmax": ((FLOATS, "fmax(a, b)"),), "fmin": ((FLOATS, "fmin(a, b)"),),
    "power": ((FLOATS, "pow(a, b)"),), "float_power": ((FLOATS, "pow(a, b)"),), "arctan2": ((FLOATS, "atan2(a, b)"),),
    "hypot": ((FLOATS, "hypot(a, b)"),), "copysign": ((FLOATS, "copysign(a, b)"),), "fmod": ((FLOATS, "fmod(a, b)"),),
    "floor_divide": ((FLOATS, "floor(a / b)"), (WHOLE, _FLOOR_OF_WHOLE)),
    "remainder": ((WHOLE, f"a - b * {_FLOOR_OF_WHOLE}"),),
    "greater": ((ANY, "a > b"),), "greater_equal": ((ANY, "a >= b"),), "less": ((ANY, "a < b"),),
    "less_equal": ((ANY, "a <= b"),), "equal": ((ANY + COMPLEX, "a == b"),), "not_equal": ((ANY + COMPLEX, "a != b"),),
    "logical_and": ((ANY, "a && b"),), "logical_or": ((ANY, "a || b"),), "logical_not": ((ANY, "!a"),),
    "logical_xor": ((ANY, "!a != !b"),), "bitwise_and": ((WHOLE + "?", "a & b"),),
    "bitwise_or": ((WHOLE + "?", "a | b"),), "bitwise_xor": ((WHOLE + "?", "a ^ b"),),
    "invert": (("?", "!a"), (WHOLE, "~a")), "left_shift": ((WHOLE, "a << b"),), "right_shift": ((WHOLE, "a >> b"),),
    "isnan": ((FLOATS, "a != a"),), "isinf": ((FLOATS, "isinf(a)"),), "isfinite": ((FLOATS, "isfinite(a)"),),
    "signbit": ((FLOATS, "signbit(a)"),),
    "sign": ((FLOATS, "a != a ? a : (a > 0) - (a < 0)"), (WHOLE, "(a > 0) - (a < 0)")),
    "rint": ((FLOATS, "rint(a)"),), "deg2rad": ((FLOATS, "a * (3.14159265358979323846 / 180)"),),
    **{name: ((FLOATS, f"{name}(a)"),) for name in (
        "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "floor", "ceil", "trunc")},
    **{f"arc{name}": ((FLOATS, f"a{name}(a)"),) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}  # fmt: skip
REDUCTIONS = {
    "sum": ("a + b", "0"), "prod": ("a * b", "1"), "max": ("max_of_(a, b)", None), "min": ("min_of_(a, b)", None),
    "amax": ("max_of_(a, b)", None), "amin": ("min_of_(a, b)", None),
}  # fmt: skip
BY_UFUNC = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def expression(name: str, loop: Sequence["np.dtype[Any]"]) -> str | None:
    """What a function is in CUDA for inputs of these types; None where that is not known."""
    for kinds, text in EXPRESSIONS.get(name, ()):
        if all(dtype.char in kinds for dtype in loop):
            return text
    return None


def loop_types(ufunc: Any, inputs: Sequence[Any]) -> tuple["np.dtype[Any]", ...] | None:
    """The types that a function works in: of its inputs, and of its output. inputs: dtypes, and Python's types."""
    given = [each if isinstance(each, type) else np.dtype(each) for each in inputs]
    try:
        return tuple(ufunc.resolve_dtypes((*given, *[None] * ufunc.nout)))
    except TypeError:
        return None


def statement(
    name: str, loop: Sequence["np.dtype[Any]"], inputs: Sequence[str], output: str, declare: str = ""
) -> str | None:
    """`output = function(inputs)` in CUDA; halves are worked with as floats. None where that is not known."""
    text = expression(name, loop[:-1])
    if text is None or len(inputs) > 2:
        return None
    parts = []
    for letter, source, dtype in zip("ab", inputs, loop[:-1], strict=False):
        of = "float" if dtype.char == "e" else name_of(dtype)
        parts.append(f"const {of} {letter} = {source};")
    return f"{declare}{{ {' '.join(parts)} {output} = {text}; }}"


def as_kernel(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A call of a function of NumPy as a kernel that was launched; None where it is none of the simple ones."""
    if method == "reduce" and ufunc.__name__ in BY_UFUNC and isinstance(inputs[0], ndarray):
        return reduced(BY_UFUNC[ufunc.__name__], inputs[0], inputs[1:], {"axis": 0, **options})
    outs = options.get("out") or ()
    if method != "__call__" or set(options) - {"out"} or ufunc.nout != 1:
        return None
    if not all(isinstance(each, (ndarray, int, float, complex, np.generic)) for each in inputs):
        return None
    loop = loop_types(ufunc, [_type_of(each) for each in inputs])
    if loop is None or expression(ufunc.__name__, loop[:-1]) is None:
        return None
    operands = [
        each if isinstance(each, ndarray) else dtype.type(each) for each, dtype in zip(inputs, loop, strict=False)
    ]
    wide = np.broadcast_shapes(*(np.shape(each) for each in operands))
    target = outs[0] if outs else np.empty(wide, loop[-1]).view(ndarray)
    if not isinstance(target, ndarray) or not np.can_cast(loop[-1], target.dtype, "same_kind"):
        return None
    types = tuple(np.asarray(each).dtype for each in operands)
    _kernel(ufunc.__name__, loop, types, target.dtype)(*operands, target)
    return target


def _type_of(value: Any) -> Any:
    if isinstance(value, bool):
        return np.dtype(bool)
    return type(value) if type(value) in (int, float, complex) else value.dtype


@cache
def _kernel(name: str, loop: tuple[Any, ...], types: tuple[Any, ...], out: Any) -> ElementwiseKernel:
    names = ["x", "y"][: len(types)]
    code = statement(name, loop, names, "z")
    assert code is not None
    ins = ", ".join(f"{dtype.name} {each}" for dtype, each in zip(types, names, strict=True))
    return ElementwiseKernel(ins, f"{out.name} z", code, f"cupy_{name}")


def reduced(name: str, array: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """A reduction as a kernel that was launched; None where it is none of the simple ones."""
    given = {**dict(zip(("axis", "dtype", "out", "keepdims"), arguments, strict=False)), **options}
    if name in ("max", "min", "amax", "amin") and len(arguments) > 1:
        return None
    out = given.get("out")
    out = out[0] if isinstance(out, tuple) else out
    if name not in REDUCTIONS or set(given) - {"axis", "dtype", "out", "keepdims"} or array.dtype.char not in ANY:
        return None
    dtype = given.get("dtype")
    if dtype is None:
        is_sum = name in ("sum", "prod")
        dtype = np.result_type(array.dtype, np.int_) if is_sum and array.dtype.char in "?bhil" else array.dtype
        dtype = np.dtype(np.uint64) if is_sum and array.dtype.kind == "u" else dtype
    kernel = _reduction(name, array.dtype, np.dtype(dtype))
    return kernel(array, axis=given.get("axis"), keepdims=bool(given.get("keepdims", False)), out=out)


@cache
def _reduction(name: str, dtype: Any, out: Any) -> ReductionKernel:
    join, identity = REDUCTIONS[name]
    works_in = "float" if out.char == "e" else None
    return ReductionKernel(
        f"{dtype.name} x", f"{out.name} y", "x", join, "y = a", identity, f"cupy_{name}", reduce_type=works_in
    )


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """where() as a kernel."""
    dtype = np.result_type(x, y)
    if not isinstance(condition, ndarray) or dtype.char not in ANY:
        from simtmm.scripts.cupy.device_array import called

        count("cupy.where")
        return called(np.where, (condition, x, y), {})
    types = [each.dtype if isinstance(each, (ndarray, np.generic)) else dtype for each in (x, y)]
    kernel = _choice(condition.dtype, *types, dtype)
    return kernel(condition, *(e if isinstance(e, ndarray) else t.type(e) for e, t in zip((x, y), types, strict=True)))


@cache
def _choice(of: Any, first: Any, second: Any, out: Any) -> ElementwiseKernel:
    text = f"z = c ? static_cast<{name_of(out)}>(x) : static_cast<{name_of(out)}>(y)"
    return ElementwiseKernel(f"{of.name} c, {first.name} x, {second.name} y", f"{out.name} z", text, "cupy_where")

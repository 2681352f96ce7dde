"""Parameters of elementwise kernels and reductions: "float32 x, raw T y", and which types a call gives them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtmm.errors import shown
from simtmm.scripts.cupy.code import name_of
from simtmm.scripts.cupy.device_array import ndarray

RESERVED = {"i", "n", "_ind", "_in_ind", "_out_ind"}

Dtype = np.dtype[Any]


@dataclass(frozen=True)
class Parameter:
    """One of a kernel's.

    name: that its code uses. type: a letter that stands for any type, where dtype is None. raw: whether the code
    indexes it itself.
    """

    name: str
    type: str
    dtype: Dtype | None
    raw: bool


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """Those that a text names. Raises ValueError for what is none."""
    found = []
    for part in text.split(","):
        words = part.split()
        if not words:
            continue
        raw = "raw" in words
        rest = [word for word in words if word not in ("raw", "const", "_non_const")]
        if len(rest) != 2 or not re.fullmatch(r"[A-Za-z_]\w*", rest[1]) or rest[1] in RESERVED:
            raise ValueError(f"Syntax error in parameters: {shown(part.strip())}")
        kind, name = rest
        try:
            dtype = None if len(kind) == 1 else np.dtype(kind)
        except TypeError:
            raise TypeError(f"{name}: unknown type {kind}") from None
        found.append(Parameter(name, kind, dtype, raw))
    names = [parameter.name for parameter in found]
    if len(set(names)) < len(names):
        raise ValueError(f"Kernel parameters have duplicate names: {', '.join(names)}")
    return tuple(found)


@dataclass(frozen=True)
class Types:
    """What a call gives. placeholders: types by letter. inputs, outputs: of the parameters."""

    placeholders: dict[str, Dtype]
    inputs: tuple[Dtype, ...]
    outputs: tuple[Dtype, ...]

    def typedefs(self) -> str:
        """The letters as names of types."""
        return "".join(f"typedef {name_of(dtype)} {letter};\n" for letter, dtype in self.placeholders.items())


def decided(
    ins: Sequence[Parameter], outs: Sequence[Parameter], arguments: Sequence[Any], results: Sequence[Any]
) -> Types:
    """The types of a call: given outputs decide first, then arrays, NumPy's scalars, other numbers.

    Raises TypeError where they contradict.
    """
    known: dict[str, Dtype] = {}
    for parameter, array in [*zip(outs, results, strict=False), *zip(ins, arguments, strict=True)]:
        if not isinstance(array, ndarray):
            continue
        wanted = parameter.dtype if parameter.dtype is not None else known.setdefault(parameter.type, array.dtype)
        if wanted != array.dtype:
            raise TypeError(f"Type is mismatched. {parameter.name} {array.dtype} {wanted}")
    for parameter, number in zip(ins, arguments, strict=True):
        if isinstance(number, np.generic) and parameter.dtype is None:
            known.setdefault(parameter.type, number.dtype)
    for parameter, number in zip(ins, arguments, strict=True):
        if parameter.dtype is None and parameter.type not in known:
            known[parameter.type] = np.asarray(number).dtype
    for parameter in outs:
        if parameter.dtype is None and parameter.type not in known:
            raise ValueError(f"Type of {parameter.name} is unknown: no input determines {parameter.type}")
    return Types(
        known,
        tuple(parameter.dtype if parameter.dtype is not None else known[parameter.type] for parameter in ins),
        tuple(parameter.dtype if parameter.dtype is not None else known[parameter.type] for parameter in outs),
    )


def checked_argument(value: Any) -> Any:
    """An argument of a call: an array of the device or a number. Raises TypeError."""
    if isinstance(value, (ndarray, int, float, complex, np.generic)):
        return value
    raise TypeError(f"Unsupported type {type(value)}")

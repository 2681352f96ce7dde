"""Products of matrices against an H100's (sm_90, machine code by ptxas of CUDA 13.0), bit by bit.

measured/h100_matrix.npz: "cases" lists, as JSON, an instruction and the names of its arrays A, B, C and D. Each has a
row for each of some warps: for mma the registers, [register, lane], for wmma the matrices, A and C row by row, B column
by column. Numbers are spread out, far apart, beside one large one, subnormal, overflowing, and infinities and NaNs.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.cuda.execution.kernels import kernel, run
from tests.cuda.execution.test_mma import BITS, scoped, sizes
from tests.cuda.interpreter.formats import FORMATS, decode, encode
from tests.cuda.interpreter.matrices import accumulated

Array = npt.NDArray[Any]
FILE = Path(__file__).parents[1] / "measured" / "h100_matrix.npz"
KINDS = ("f16", "bf16", "tf32", "f64", "e4m3", "e5m2")


@cache
def measured() -> dict[str, Array]:
    """The file's arrays."""
    with np.load(FILE) as file:
        return dict(file)


@cache
def cases() -> dict[str, list[Array]]:
    """Arrays A, B, C and D by instruction."""
    return {name: [measured()[key] for key in keys] for name, *keys in json.loads(str(measured()["cases"]))}


def kinds_of(name: str) -> tuple[str, str, str, str]:
    """The types of D, A, B and C."""
    kinds = [each for each in name.split(".") if each in BITS]
    return (kinds[0], kinds[1], kinds[2], kinds[3]) if len(kinds) == 4 else (kinds[0], "f16", "f16", kinds[1])


def shape_of(name: str) -> tuple[int, int, int]:
    """m, n and k."""
    return sizes(next(each for each in name.split(".") if each[0] == "m" and each[1].isdigit()))


def loaded(name: str, first: int) -> str:
    """wmma of matrices in arrays from a number on."""
    rows, columns, depth = shape_of(name)
    shape = next(each for each in name.split(".") if each[0] == "m" and each[1].isdigit())
    to, a_kind, b_kind, c_kind = kinds_of(name)
    sizes_of = (("a", rows * depth, a_kind), ("b", depth * columns, b_kind), ("c", rows * columns, c_kind),
                ("d", rows * columns, to))  # fmt: skip
    counts = {x: 8 if x in "ab" and kind == "f16" else max(1, many * BITS[kind] // 1024) for x, many, kind in sizes_of}
    counts = {x: many // (2 if a_kind == "f64" else 1) or 1 for x, many in counts.items()}
    registers = {x: "{" + ", ".join(f"%{x}{n}" for n in range(many)) + "}" for x, many in counts.items()}
    width = 64 if a_kind == "f64" else 32
    body = [f".reg .b{width} %{x}<{many}>;" for x, many in counts.items()]
    parts = (("a", "row", a_kind, depth), ("b", "col", b_kind, depth), ("c", "row", c_kind, columns))
    for at, (x, layout, kind, step) in enumerate(parts, first):
        body.append(f"wmma.load.{x}.sync.aligned.{layout}.{shape}.global.{kind} {registers[x]}, [%p{at}], {step};")
    body.append(f"{name} {registers['d']}, {registers['a']}, {registers['b']}, {registers['c']};")
    body.append(f"wmma.store.d.sync.aligned.row.{shape}.global.{to} [%p{first + 3}], {registers['d']}, {columns};")
    return "\n".join(["{", *body, "}"])


def text_of(name: str, first: int, arrays: list[Array]) -> str:
    """PTX of an instruction whose arrays are numbered from a number on."""
    if name.startswith("wmma"):
        return loaded(name, first)
    types = [f"b{8 * each.itemsize}" for each in arrays]
    return scoped(name, first, [each.shape[1] // 32 for each in arrays], types)


def compared(array: Array, kind: str) -> Array:
    """Bits that must be those of a GPU: of f64, NaNs may be others."""
    if kind != "f64":
        return array
    return np.where(np.isnan(array.view(np.float64)), np.uint64(FORMATS["f64"].nan), array)


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_is_a_gpus(kind: str) -> None:
    names = [name for name in cases() if kinds_of(name)[1] == kind]
    text = kernel("\n".join(text_of(name, 4 * n, cases()[name]) for n, name in enumerate(names)), 4 * len(names))
    for warp in range(cases()[names[0]][0].shape[0]):
        arrays = []
        for name in names:
            *given, found = (each[warp].copy() for each in cases()[name])
            arrays += [*given, np.zeros_like(found)]
        run(text, "k", arrays)
        for name, array in zip(names, arrays[3::4], strict=True):
            to = kinds_of(name)[0]
            assert np.array_equal(compared(array, to), compared(cases()[name][3][warp], to)), (name, warp)


def test_a_result_of_f16_is_a_sum_of_f32_rounded_where_what_is_added_to_is_f32() -> None:
    shape = "wmma.mma.sync.aligned.row.col.m16n16k16"
    text = kernel(loaded(f"{shape}.f16.f32", 0), 4)
    for *given, sums in zip(*cases()[f"{shape}.f32.f32"], strict=True):
        arrays = [each.copy() for each in given] + [np.zeros(256, np.float16)]
        run(text, "k", arrays)
        with np.errstate(over="ignore"):
            expected = sums.view(np.float32).astype(np.float16)
        assert np.array_equal(arrays[3].view(np.uint16), expected.view(np.uint16))


def numbers(array: Array, kind: str) -> list[int]:
    """Bits of a matrix's elements."""
    return [int(each) for each in array.view(f"u{BITS[kind] // 8}")]


@pytest.mark.parametrize("name", [name for name in cases() if name.startswith("wmma")])
def test_the_interpreter_has_the_same_rule(name: str) -> None:
    kinds = kinds_of(name)
    _, columns, depth = shape_of(name)
    for warp in range(cases()[name][0].shape[0]):
        a, b, c, d = (
            numbers(array[warp], kind) for array, kind in zip(cases()[name], (*kinds[1:], kinds[0]), strict=True)
        )
        left, right, start = (
            [decode(x, FORMATS[kind]) for x in m] for m, kind in zip((a, b, c), kinds[1:], strict=True)
        )
        for at in range(0, len(d), 7):
            row, column = divmod(at, columns)
            pairs = list(
                zip(
                    left[depth * row : depth * row + depth], right[depth * column : depth * column + depth], strict=True
                )
            )
            found = encode(accumulated(pairs, start[at], kinds, short=True), FORMATS[kinds[0]])
            assert found == d[at] or (kinds[0] == "f64" and np.isnan(decode(d[at], FORMATS["f64"]))), (warp, at)

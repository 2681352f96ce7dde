"""Video instructions against closed forms in Python's whole numbers."""

from collections.abc import Callable

import numpy as np
import pytest

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError
from tests.cuda.execution.kernels import Array, apply, each_lane

EDGES = np.array([0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
RANDOM = np.random.default_rng(0).integers(0, 1 << 32, 22, dtype=np.uint32)
A = np.concatenate([EDGES, RANDOM])
B, C = np.roll(A, 3), np.roll(A, 7)


def part(value: int, start: int, width: int, signed: bool) -> int:
    """Some bits of a number."""
    bits = value >> start & ((1 << width) - 1)
    return bits - (1 << width) if signed and bits >> (width - 1) else bits


def bounded(value: int, width: int, signed: bool) -> int:
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    return min(max(value, low), high)


def each(function: Callable[[int, int, int], int]) -> Array:
    return np.array([function(int(a), int(b), int(c)) & 0xFFFFFFFF for a, b, c in zip(A, B, C, strict=True)], np.uint32)


CASES: list[tuple[str, Callable[[int, int, int], int]]] = [
    ("vadd.s32.s32.s32 %o0, %i0.b1, %i1.h1;", lambda a, b, c: part(a, 8, 8, True) + part(b, 16, 16, True)),
    ("vadd.s32.s32.u32.sat %o0, %i0, %i1;", lambda a, b, c: bounded(part(a, 0, 32, True) + b, 32, True)),
    (
        "vadd.u32.s32.s32.sat %o0, %i0, %i1;",
        lambda a, b, c: bounded(part(a, 0, 32, True) + part(b, 0, 32, True), 32, False),
    ),
    ("vsub.u32.u32.u32.add %o0, %i0.b3, %i1.b0, %i2;", lambda a, b, c: (a >> 24) - (b & 255) + c),
    ("vabsdiff.u32.s32.s32 %o0, %i0, %i1;", lambda a, b, c: abs(part(a, 0, 32, True) - part(b, 0, 32, True))),
    (
        "vmin.s32.s32.s32.max %o0, %i0.h0, %i1, %i2;",
        lambda a, b, c: max(min(part(a, 0, 16, True), part(b, 0, 32, True)), part(c, 0, 32, True)),
    ),
    ("vmax.u32.u32.u32 %o0.b2, %i0, %i1, %i2;", lambda a, b, c: (max(a, b) & 255) << 16 | c & 0xFF00FFFF),
    (
        "vsub.s32.s32.s32.sat %o0.h1, %i0, %i1, %i2;",
        lambda a, b, c: (bounded(part(a, 0, 32, True) - part(b, 0, 32, True), 16, True) & 0xFFFF) << 16 | c & 0xFFFF,
    ),
    ("vshl.u32.u32.u32.clamp %o0, %i0, %i1.b0;", lambda a, b, c: a << min(b & 255, 32)),
    ("vshl.u32.u32.u32.sat.wrap %o0, %i0.h0, %i1;", lambda a, b, c: bounded((a & 0xFFFF) << (b & 31), 32, False)),
    ("vshr.s32.s32.u32.clamp.add %o0, %i0, %i1, %i2;", lambda a, b, c: (part(a, 0, 32, True) >> min(b, 32)) + c),
    (
        "vmad.s32.s32.u32 %o0, %i0.h1, %i1.b1, %i2;",
        lambda a, b, c: part(a, 16, 16, True) * (b >> 8 & 255) + part(c, 0, 32, True),
    ),
    ("vmad.u32.u32.u32.sat.shr7 %o0, %i0, %i1, %i2;", lambda a, b, c: bounded((a * b + c) >> 7, 32, False)),
    (
        "vmad.s32.s32.s32.po.sat.shr15 %o0, %i0, %i1, %i2;",
        lambda a, b, c: bounded(
            (part(a, 0, 32, True) * part(b, 0, 32, True) + part(c, 0, 32, True) + 1) >> 15, 32, True
        ),
    ),
    ("vset.s32.u32.lt %o0, %i0, %i1.b3;", lambda a, b, c: int(part(a, 0, 32, True) < b >> 24)),
    ("vset.u32.u32.ge.add %o0, %i0, %i1, %i2;", lambda a, b, c: int(a >= b) + c),
    (
        "vadd4.s32.s32.s32.sat %o0, %i0, %i1, %i2;",
        lambda a, b, c: sum(
            (bounded(part(a, n, 8, True) + part(b, n, 8, True), 8, True) & 255) << n for n in (0, 8, 16, 24)
        ),
    ),
    (
        "vabsdiff4.u32.u32.u32.add %o0, %i0, %i1, %i2;",
        lambda a, b, c: c + sum(abs(part(a, n, 8, False) - part(b, n, 8, False)) for n in (0, 8, 16, 24)),
    ),
    (
        "vavrg2.s32.s32.s32 %o0, %i0, %i1, %i2;",
        lambda a, b, c: sum(
            (
                (part(a, n, 16, True) + part(b, n, 16, True) + (part(a, n, 16, True) + part(b, n, 16, True) >= 0)) >> 1
                & 0xFFFF
            )
            << n
            for n in (0, 16)
        ),
    ),
    (
        "vsub2.u32.u32.u32 %o0.h1, %i0.h21, %i1.h03, %i2;",
        lambda a, b, c: ((b & 0xFFFF) - (a & 0xFFFF) & 0xFFFF) << 16 | c & 0xFFFF,
    ),
    (
        "vmax4.u32.u32.s32.add %o0.b20, %i0, %i1, %i2;",
        lambda a, b, c: c + sum(max(part(a, n, 8, False), part(b, n, 8, True)) for n in (0, 16)),
    ),
    (
        "vset4.u32.u32.gt %o0, %i0, %i1, %i2;",
        lambda a, b, c: sum(int((a >> n & 255) > (b >> n & 255)) << n for n in (0, 8, 16, 24)),
    ),
]


def test_parts_are_computed_saturated_combined_and_merged() -> None:
    # All in one kernel, each with a result of its own.
    lines = [text.replace("%o0", f"%o{n}", 1) for n, (text, _) in enumerate(CASES)]
    found = apply("\n".join(lines), [A, B, C], [np.uint32] * len(CASES))
    for (text, function), result in zip(CASES, found, strict=True):
        assert result.tolist() == each(function).tolist(), text


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("vadd.s32.s32.s32 %o0, %i0.b4, %i0;", "has .b4, which is no part of a register"),
        ("vadd.s32.s32.s32 %o0.b0, %i0, %i0;", "needs a third operand"),
        ("vadd.s32.s32 %o0, %i0, %i0;", "has no form with .s32.s32"),
        ("vadd4.s32.s32.s32 %o0, %i0.b7654, %i0.b77, %i0;", "has .b77, which is no choice of 4 parts"),
        ("vmad.s32.s32.s32 %o0, -%i0, %i0, %i0;", "only a number may be negative"),
    ],
)
def test_what_is_no_video_instruction_is_refused(instruction: str, why: str) -> None:
    with pytest.raises(PtxError, match=f"PTX line .*{why}"):
        Program(parse_module(each_lane(instruction, ["b32"], ["b32"])), "k").assembly()

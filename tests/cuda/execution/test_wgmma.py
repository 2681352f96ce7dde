"""wgmma against NumPy: matrices laid out as the figures of the PTX ISA have them, of small whole numbers.

All products and sums of these are exact in every type. The layouts are written here from the manual, apart from those
that simtmm reads by.
"""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError
from tests.cuda.execution.kernels import Faulted, kernel, run
from tests.cuda.execution.test_mma import BITS, RANGES, encoded, held
from tests.cuda.test_cases import ptxas

Array = npt.NDArray[Any]

SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}  # by the bytes of a row of the pattern, as descriptors have them
DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32, "b1": 256}
RANDOM = np.random.default_rng


def packed_bytes(codes: Array, kind: str) -> Array:
    """Rows of numbers as rows of bytes."""
    bits = BITS[kind]
    if bits == 1:
        return np.packbits(codes.astype(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(codes.astype(f"<u{bits // 8}")).view(np.uint8).reshape(len(codes), -1)


def turned_chunk(row: int, chunk: int, pattern: int) -> int:
    """Where a swizzle puts one of the 16-byte pieces of a row of its pattern."""
    return chunk ^ {0: 0, 32: row // 4 % 2, 64: row // 2 % 4, 128: row % 8}[pattern]


def along_k(matrix: Array, pattern: int, part: int, image: Array, at: int) -> int:
    """Lay rows of 32 bytes into shared memory; the descriptor. part: of the pattern's row, 32 bytes each."""
    rows = len(matrix)
    leading, stride = 0, 8 * pattern
    if not pattern:
        leading, stride = 128 + 256, 128  # core matrices of the second half lie behind a gap
        leading = rows // 8 * 128 + 256
    for row in range(rows):
        for half in range(2):
            if pattern:
                place = row // 8 * stride + row % 8 * pattern + 16 * turned_chunk(row, 2 * part + half, pattern)
            else:
                place = row // 8 * stride + row % 8 * 16 + half * leading
            image[at + place : at + place + 16] = matrix[row, 16 * half : 16 * half + 16]
    return (at + 32 * part) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | SWIZZLES[pattern] << 62


def along_rows(matrix: Array, pattern: int, image: Array, at: int) -> int:
    """Lay a matrix [k, row] of 16-bit numbers, as bytes, into shared memory; the descriptor."""
    groups = matrix.shape[1] // 16
    wide = max(1, pattern // 16)
    if pattern:
        stride, leading = 8 * pattern, 16 * pattern + 1024  # from 8 to 8 along K; from one pattern's row to the next
    else:
        stride, leading = 128, groups * 128 + 512
    for k in range(len(matrix)):
        for group in range(groups):
            if pattern:
                across, chunk = divmod(group, wide)
                place = across * leading + k // 8 * stride + k % 8 * pattern + 16 * turned_chunk(k % 8, chunk, pattern)
            else:
                place = group * stride + k // 8 * leading + k % 8 * 16
            image[at + place : at + place + 16] = matrix[k, 16 * group : 16 * group + 16]
    return at >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | SWIZZLES[pattern] << 62


def body_of(
    instruction: str, a_registers: int, d_registers: int, d_type: str, flags: str, shared: int, behind: str = ""
) -> str:
    """Shared memory from array 0, descriptors from 1, registers of A from 2, of D from 3, to 4; scale-d in array 5.

    behind: what a thread does once it has waited.
    """
    d = "{" + ", ".join(f"%d{n}" for n in range(d_registers)) + "}"
    a = "{" + ", ".join(f"%a{n}" for n in range(a_registers)) + "}" if a_registers else "%da"
    return f"""
.reg .b32 %x; .reg .b32 %i; .reg .pred %more; .reg .pred %adds; .reg .b64 %da; .reg .b64 %db; .reg .b32 %to;
.reg .{d_type} %d<{d_registers}>; .reg .b32 %a<4>; .reg .b64 %row;
.shared .align 1024 .b8 image[{shared}];
mul.lo.u32 %i, %lane, 4;
FILL:
cvt.u64.u32 %at, %i; add.u64 %at, %at, %p0; ld.global.b32 %x, [%at];
mov.u32 %to, image; add.u32 %to, %to, %i; st.shared.b32 [%to], %x;
add.u32 %i, %i, 512; setp.lt.u32 %more, %i, {shared};
@%more bra FILL;
bar.sync 0;
ld.global.b64 %da, [%p1]; ld.global.b64 %db, [%p1+8];
mov.u32 %to, image; shr.u32 %to, %to, 4; cvt.u64.u32 %at, %to; add.u64 %da, %da, %at; add.u64 %db, %db, %at;
mul.wide.u32 %off, %lane, 4; add.u64 %row, %p2, %off;
{" ".join(f"ld.global.b32 %a{n}, [%row+{512 * n}];" for n in range(a_registers))}
add.u64 %row, %p3, %off;
{" ".join(f"ld.global.{d_type} %d{n}, [%row+{512 * n}];" for n in range(d_registers))}
ld.global.b32 %x, [%p5]; setp.ne.b32 %adds, %x, 0;
fence.proxy.async.shared::cta;
wgmma.fence.sync.aligned;
{instruction} {d}, {a}, %db, %adds{flags};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{behind}
add.u64 %row, %p4, %off;
{" ".join(f"st.global.{d_type} [%row+{512 * n}], %d{n};" for n in range(d_registers))}
"""


SHARED = 1 << 17
B_AT = 1 << 16


def multiplied(  # noqa: PLR0913, PLR0917 - each is a part of what is made
    kinds: tuple[str, str, str], a: Array, b: Array, c: Array, layouts: tuple[str | int, str | int],
    adds: bool = True, signs: tuple[int, int] = (1, 1), parts: tuple[int, int] = (0, 0), how: str = "",
    behind: str = "",
) -> tuple[Array, Array]:  # fmt: skip
    """Registers of D that wgmma gives [register, warp and lane], and those of the same product by NumPy.

    a [64, k], b [k, n]. layouts: of A and B: the bytes of the swizzle's pattern, "registers", or "turned" and them.
    parts: which 32 bytes of the pattern's row. behind: see body_of.
    """
    d_kind, a_kind, b_kind = kinds
    image = RANDOM(9).integers(0, 256, SHARED).astype(np.uint8)
    columns, depth = b.shape[1], b.shape[0]
    descriptors, turns = [0, 0], [0, 0]
    for which, (matrix, kind, layout) in enumerate(((a, a_kind, layouts[0]), (b.T, b_kind, layouts[1]))):
        codes, at = encoded(matrix, kind), which * B_AT
        if layout == "registers":
            continue
        if isinstance(layout, str):
            turns[which] = 1
            descriptors[which] = along_rows(packed_bytes(codes.T, kind), int(layout.split()[1]), image, at)
        else:
            descriptors[which] = along_k(packed_bytes(codes, kind), layout, parts[which], image, at)
    in_registers = layouts[0] == "registers"
    given = [held(a[16 * w : 16 * w + 16], a_kind) for w in range(4)] if in_registers else [np.zeros((4, 32), "u4")] * 4
    sums = [held(c[16 * w : 16 * w + 16], d_kind, True) for w in range(4)]
    total = (signs[0] * a) @ (signs[1] * b) + (c if adds else 0)
    expected = np.hstack([held(total[16 * w : 16 * w + 16], d_kind, True) for w in range(4)])
    flags = ""
    if a_kind in ("f16", "bf16"):
        flags = f", {signs[0]}, {signs[1]}, " + (f"{turns[1]}" if in_registers else f"{turns[0]}, {turns[1]}")
    elif d_kind != "s32":
        flags = f", {signs[0]}, {signs[1]}"
    of_bits = ".and.popc" if a_kind == "b1" else ""
    instruction = f"wgmma.mma_async.sync.aligned.m64n{columns}k{depth}{how}.{d_kind}.{a_kind}.{b_kind}{of_bits}"
    d_type = {"f32": "f32", "s32": "s32", "f16": "b32"}[d_kind]
    body = body_of(instruction, 4 if in_registers else 0, len(expected), d_type, flags, SHARED, behind)
    found = np.zeros_like(expected)
    arrays = [image, np.array(descriptors, np.uint64), np.ascontiguousarray(np.hstack(given)),
              np.ascontiguousarray(np.hstack(sums)), found, np.array([adds], np.uint32)]  # fmt: skip
    run(kernel(body, 6), "k", arrays, threads=128)
    return found, expected


def drawn(kind: str, seed: int, columns: int, b_kind: str = "") -> tuple[Array, Array, Array]:
    """Matrices of small numbers."""
    random = RANDOM(seed)
    depth = DEPTHS[kind]
    low, high = RANGES.get(kind, (-4, 5))
    other = RANGES.get(b_kind or kind, (-4, 5))
    return (
        random.integers(low, high, (64, depth)),
        random.integers(*other, (depth, columns)),
        random.integers(-50, 50, (64, columns)),
    )


@pytest.mark.parametrize("pattern", SWIZZLES)
@pytest.mark.parametrize(
    ("d_kind", "kind", "columns"),
    [("f32", "f16", 24), ("f16", "f16", 64), ("f32", "bf16", 8), ("f32", "tf32", 40), ("f32", "e4m3", 16),
     ("f16", "e5m2", 8), ("s32", "s8", 48), ("s32", "u8", 24), ("s32", "b1", 32)],
)  # fmt: skip
def test_factors_are_read_along_k_by_each_swizzle(d_kind: str, kind: str, columns: int, pattern: int) -> None:
    parts = (pattern // 32 - 1, pattern // 64) if pattern else (0, 0)
    found, expected = multiplied((d_kind, kind, kind), *drawn(kind, pattern, columns), (pattern, pattern), parts=parts)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("pattern", SWIZZLES)
@pytest.mark.parametrize(("a", "b"), [("turned", "turned"), ("turned", ""), ("", "turned"), ("registers", "turned")])
def test_factors_of_16_bits_may_lie_along_their_rows(pattern: int, a: str, b: str) -> None:
    kind = "f16" if pattern % 64 else "bf16"
    layouts = [f"{each} {pattern}" if each == "turned" else each or pattern for each in (a, b)]
    found, expected = multiplied(("f32", kind, kind), *drawn(kind, pattern, 128), (layouts[0], layouts[1]))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", DEPTHS)
def test_the_first_factor_may_be_in_registers(kind: str) -> None:
    d_kind = "f32" if kind in ("f16", "bf16", "tf32", "e4m3", "e5m2") else "s32"
    found, expected = multiplied((d_kind, kind, kind), *drawn(kind, 3, 16), ("registers", 64))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("columns", [8, 136, 256])
def test_a_product_is_as_wide_as_its_shape_says(columns: int) -> None:
    found, expected = multiplied(("f32", "f16", "f16"), *drawn("f16", columns, columns), (128, 128))
    assert np.array_equal(found, expected)


def test_types_of_8_bits_mix() -> None:
    for kinds in (("f32", "e4m3", "e5m2"), ("s32", "u8", "s8")):
        found, expected = multiplied(kinds, *drawn(kinds[1], 5, 16, kinds[2]), (32, 128))
        assert np.array_equal(found, expected), kinds


def test_what_was_there_may_be_left_out_and_factors_negated() -> None:
    for adds, signs in ((False, (1, 1)), (True, (-1, 1)), (True, (1, -1)), (False, (-1, -1))):
        for layouts in ((128, 64), ("registers", 0)):
            given = drawn("f16", 7, 16)
            found, expected = multiplied(("f32", "f16", "f16"), *given, layouts, adds, signs)
            assert np.array_equal(found, expected), (adds, signs)


def test_whole_sums_may_be_held_within_32_bits() -> None:
    a, b = np.ones((64, 32), int), np.ones((32, 8), int)
    for how, value in ((".satfinite", 2**31 - 1), ("", -(2**31) + 1)):
        found, _ = multiplied(("s32", "u8", "u8"), a, b, np.full((64, 8), 2**31 - 31), (0, 0), how=how)
        assert (found.view(np.int32) == value).all()


OVERWRITTEN = f"""mul.lo.u32 %i, %lane, 4;
OVER: mov.u32 %to, image; add.u32 %to, %to, %i; st.shared.b32 [%to], %lane;
add.u32 %i, %i, 512; setp.lt.u32 %more, %i, {SHARED}; @%more bra OVER;"""


@pytest.mark.parametrize("layouts", [(128, 64), ("registers", 32)])
def test_factors_may_be_overwritten_by_a_warp_that_has_waited_for_the_product_of_all_four(
    layouts: tuple[str | int, str | int],
) -> None:
    found, expected = multiplied(("f32", "bf16", "bf16"), *drawn("bf16", 12, 64), layouts, behind=OVERWRITTEN)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("warps", [4, 6])  # also where a group is not whole
def test_a_wait_leaves_under_way_what_other_warps_have_yet_to_begin(warps: int) -> None:
    body = """.reg .b32 %x; .reg .pred %first; .reg .pred %is; .shared .align 4 .b32 flag;
mov.u32 %x, %tid.x; setp.lt.u32 %first, %x, 32;
wgmma.commit_group.sync.aligned;
@%first bra FIRST;
AGAIN: ld.volatile.shared.u32 %x, [flag]; setp.ne.u32 %is, %x, 7; @%is bra AGAIN;
wgmma.commit_group.sync.aligned;
bra TOGETHER;
FIRST: wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 1;
mov.u32 %x, 7; st.volatile.shared.u32 [flag], %x;
TOGETHER: wgmma.wait_group.sync.aligned 0;
mul.wide.u32 %off, %lane, 4; add.u64 %at, %p0, %off; st.global.u32 [%at], %x;"""
    found = np.zeros(32 * warps, np.uint32)
    run(kernel(body, 1), "k", [found], threads=32 * warps)
    assert (found == 7).all()


def test_warps_that_have_left_are_not_waited_for() -> None:
    body = """.reg .b32 %x; .reg .pred %others; mov.u32 %x, %tid.x; setp.ge.u32 %others, %x, 32; @%others bra END;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
mul.wide.u32 %off, %lane, 4; add.u64 %at, %p0, %off; st.global.u32 [%at], 5;
END: ret;"""
    found = np.zeros(32, np.uint32)
    run(kernel(body, 1), "k", [found], threads=128)
    assert (found == 5).all()


def test_a_descriptor_beyond_shared_memory_ends_the_launch() -> None:
    body = body_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 0, 4, "f32", ", 1, 1, 0, 0", 4096)
    descriptors, registers = np.array([0, 4000 >> 4 | 8 << 32], np.uint64), np.zeros((3, 4, 128), np.uint32)
    arrays = [np.zeros(4096, np.uint8), descriptors, *registers, np.ones(1, np.uint32)]
    with pytest.raises(Faulted, match="1"):
        run(kernel(body, 6), "k", arrays, threads=128)


INSTRUCTIONS = {
    "m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %s0, %s1, %q0, 2, 1, 0, 0": "scales a matrix by 2",
    "m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %s0, %s1, %q0, 1, 1, 0, 2": "must be 0 or 1",
    "m64n8k16.f32.f16.f16 {%f0,%f1}, %s0, %s1, %q0, 1, 1, 0, 0": "has 2 registers where a warp holds 4",
    "m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%r0,%r1}, %s1, %q0, 1, 1, 0": "has 2 registers where a warp holds 4",
    "m64n8k16.f32.tf32.tf32 {%f0,%f1,%f2,%f3}, %s0, %s1, %q0, 1, 1": "has no form with",
    "m64n40k32.s32.s8.s8 {%r0,%r1}, %s0, %s1, %q0": "has no form with .mma_async.sync.aligned.m64n40k32",
    "m64n8k8.f32.tf32.tf32 {%f0,%f1,%f2,%f3}, %s0, %s1, %q0, 1, 1, 0, 0": "has operands that it does not take",
}


@pytest.mark.parametrize(("instruction", "why"), INSTRUCTIONS.items())
def test_what_no_form_has_is_refused(instruction: str, why: str) -> None:
    registers = ".reg .f32 %f<8>; .reg .b64 %s<2>; .reg .pred %q<1>; .reg .b32 %r<4>;"
    text = kernel(f"wgmma.mma_async.sync.aligned.{instruction};", 0, registers)
    with pytest.raises(PtxError, match=why):
        Program(parse_module(text), "k").assembly()


@pytest.mark.skipif(ptxas() is None, reason="nvidia-cuda-nvcc is not installed")
def test_the_assembler_takes_what_is_tested_here(tmp_path: Path) -> None:
    bodies = [
        body_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 4, 4, "f32", ", -1, 1, 1", 4096),
        body_of("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", 0, 2, "b32", ", 1, 1, 1, 1", 4096),
        body_of("wgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32", 0, 12, "f32", ", 1, -1", 4096),
        body_of("wgmma.mma_async.sync.aligned.m64n24k32.f16.e4m3.e5m2", 4, 6, "b32", ", 1, -1", 4096),
        body_of("wgmma.mma_async.sync.aligned.m64n48k32.satfinite.s32.u8.s8", 0, 24, "s32", "", 4096),
        body_of("wgmma.mma_async.sync.aligned.m64n48k256.s32.b1.b1.and.popc", 4, 24, "s32", "", 4096),
    ]
    for number, body in enumerate(bodies):
        path = tmp_path / f"{number}.ptx"
        path.write_text(kernel(body, 6).replace("sm_100a", "sm_90a"), encoding="utf-8")
        command = [str(ptxas()), "-arch=sm_90a", str(path), "-o", str(tmp_path / "out.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]

"""mma.sp and wgmma.sp against NumPy: half of A is zero, and metadata as the figures of the PTX ISA have it.

The figures are written here by lane, apart from the code, which goes by row. All numbers are small whole ones, whose
products and sums are exact in every type.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from simtmm.cuda.execution.instructions.matrices.products import SPARSE_SHAPES
from simtmm.cuda.execution.layout import BAD_DESCRIPTOR, BAD_METADATA
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError
from tests.cuda.execution.kernels import Faulted, kernel, run
from tests.cuda.execution.test_mma import BITS, RANGES, SUMS, encoded, held, sizes
from tests.cuda.execution.test_wgmma import along_k, along_rows, packed_bytes

Array = npt.NDArray[Any]

WGMMA_DEPTHS = {"f16": 32, "bf16": 32, "tf32": 16, "e4m3": 64, "e5m2": 64, "s8": 64, "u8": 64}
MOST_IMAGE = 1 << 16


def group_of(kind: str) -> tuple[int, int]:
    """Numbers that are stored of a group, side by side each: (2, 1) of four, (1, 1) of two, (2, 2) of eight."""
    return (1, 1) if kind == "tf32" else (2, 2 if BITS[kind] == 4 else 1)


def thinned(a: Array, kind: str, seed: int) -> tuple[Array, Array, Array]:
    """A with half of its numbers zero; what is left of it, row by row; and 4 bits for each group of a row."""
    random = np.random.default_rng(seed)
    count, unit = group_of(kind)
    wide = 2 * count * unit
    dense, stored = np.zeros_like(a), np.zeros((a.shape[0], a.shape[1] // 2), a.dtype)
    codes = np.zeros((a.shape[0], a.shape[1] // wide), np.uint32)
    for row in range(a.shape[0]):
        for group in range(a.shape[1] // wide):
            places = sorted(random.choice(2 * count, count, replace=False))
            for number, place in enumerate(places):
                at = slice(group * wide + place * unit, group * wide + (place + 1) * unit)
                to = group * count * unit + number * unit
                dense[row, at] = a[row, at]
                stored[row, to : to + unit] = a[row, at]
            codes[row, group] = (4, 14)[places[0]] if kind == "tf32" else places[0] | places[1] << 2
    return dense, stored, codes


def metadata(codes: Array, selector: int) -> Array:
    """Of a warp's 16 rows: the register of each lane, as the figures have it; other lanes hold anything."""
    groups = codes.shape[1]
    found = np.full(32, 0xFFFFFFFF, np.uint32)

    def word(parts: list[tuple[int, int]]) -> int:
        """Of some rows, the groups from a first on, as many as fit."""
        each = 8 // len(parts)
        bits = [int(codes[row, first + n]) for row, first in parts for n in range(each)]
        return sum(value << 4 * place for place, value in enumerate(bits))

    for lane in range(32):
        row, thread = divmod(lane, 4)
        if groups == 4 and thread == selector:
            found[lane] = word([(row, 0), (row + 8, 0)])
        elif groups == 8 and thread // 2 == selector:
            found[lane] = word([(row, 4 * (thread % 2)), (row + 8, 4 * (thread % 2))])
        elif groups == 16:
            found[lane] = word([(row + 8 * (thread % 2), 8 * (thread // 2))])
    return found


def multiplied(
    modifiers: str, stored: Array, b: Array, c: Array, kinds: tuple[str, str, str], words: Array, selector: int,
) -> Array:  # fmt: skip
    """Registers of D that mma.sp gives. kinds: of sums, A and B."""
    d_kind, a_kind, b_kind = kinds
    given = [held(stored, a_kind), held(b.T, b_kind), held(c, d_kind, True), words.reshape(1, 32)]
    found = np.zeros_like(given[2])
    body = []
    for place, (letter, registers) in enumerate(zip("abce", given, strict=True)):
        body.append(
            f".reg .b32 %{letter}<{len(registers)}>; mul.wide.u32 %off, %lane, 4; add.u64 %at, %p{place}, %off;"
        )
        body += [f"ld.global.b32 %{letter}{n}, [%at+{128 * n}];" for n in range(len(registers))]
    names = ["{" + ", ".join(f"%{x}{n}" for n in range(len(each))) + "}" for x, each in zip("abc", given, strict=False)]
    body.append(f"mma.{modifiers} {names[2]}, {names[0]}, {names[1]}, {names[2]}, %e0, {selector};")
    body.append("add.u64 %at, %p4, %off;")
    body += [f"st.global.b32 [%at+{128 * n}], %c{n};" for n in range(len(found))]
    run(kernel("\n".join(body), 5), "k", [*given, found])
    return found


def selectors(shape: str, kind: str) -> int:
    """How many selectors there are."""
    count, unit = group_of(kind)
    return {4: 4, 8: 2, 16: 1}[sizes(shape)[2] // (2 * count * unit)]


@pytest.mark.parametrize(("shape", "kind"), [(s, k) for s, kinds in SPARSE_SHAPES.items() for k in sorted(kinds)])
def test_a_sparse_product_is_that_of_the_matrix_with_its_zeros(shape: str, kind: str) -> None:
    random = np.random.default_rng(1)
    low, high = RANGES.get(kind, (-4, 5))
    rows, columns, depth = sizes(shape)
    for selector in range(selectors(shape, kind)):
        for total in SUMS.get(kind, ["s32"]):
            a, b = random.integers(low, high, (rows, depth)), random.integers(low, high, (depth, columns))
            c = random.integers(-50, 50, (rows, columns))
            dense, stored, codes = thinned(a, kind, selector)
            how = ("sp", "sp::ordered_metadata")[selector % 2]
            name = f"{how}.sync.aligned.{shape}.row.col.{total}.{kind}.{kind}.{total}"
            result = multiplied(name, stored, b, c, (total, kind, kind), metadata(codes, selector), selector)
            assert np.array_equal(result, held(dense @ b + c, total, True)), (name, selector)


def test_places_need_not_rise_unless_the_instruction_says_so() -> None:
    a = np.arange(16 * 32).reshape(16, 32) % 7
    dense, stored, codes = thinned(a, "f16", 3)
    turned = stored.reshape(16, -1, 2)[:, :, ::-1].reshape(16, -1)
    words = metadata(codes >> 2 | (codes & 3) << 2, 0)
    b, c = np.arange(32 * 8).reshape(32, 8) % 5, np.zeros((16, 8))
    name = "sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    result = multiplied(f"sp.{name}", turned, b, c, ("f32", "f16", "f16"), words, 0)
    assert np.array_equal(result, held(dense @ b, "f32", True))
    with pytest.raises(Faulted, match=str(BAD_METADATA)):
        multiplied(f"sp::ordered_metadata.{name}", turned, b, c, ("f32", "f16", "f16"), words, 0)


@pytest.mark.parametrize(("kind", "shape", "code"), [("f16", "m16n8k16", 0b1010), ("tf32", "m16n8k8", 0b1000)])
def test_metadata_without_a_meaning_ends_the_launch(kind: str, shape: str, code: int) -> None:
    depth = sizes(shape)[2]
    _, stored, codes = thinned(np.ones((16, depth)), kind, 0)
    codes[5, 1] = code
    with pytest.raises(Faulted, match=str(BAD_METADATA)):
        multiplied(
            f"sp.sync.aligned.{shape}.row.col.f32.{kind}.{kind}.f32", stored, np.ones((depth, 8)), np.zeros((16, 8)),
            ("f32", kind, kind), metadata(codes, 0), 0,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "kind", "selector", "allowed"),
    [("m16n8k16", "f16", 4, "0 to 3"), ("m16n8k32", "bf16", 2, "0 to 1"), ("m16n8k64", "e4m3", 1, "0")],
)
def test_a_selector_that_there_is_not_is_refused(shape: str, kind: str, selector: int, allowed: str) -> None:
    registers = {"a": 2 if shape == "m16n8k16" else 4, "b": 2 if shape == "m16n8k16" else 4}
    of = {x: "{" + ", ".join(f"%{x}{n}" for n in range(count)) + "}" for x, count in registers.items()}
    d = "{%d0, %d1, %d2, %d3}"
    text = f".reg .b32 %a<4>, %b<4>, %e; .reg .f32 %d<4>; mma.sp.sync.aligned.{shape}.row.col.f32.{kind}.{kind}.f32 "
    text += f"{d}, {of['a']}, {of['b']}, {d}, %e, {selector};"
    with pytest.raises(PtxError, match=f"has the selector {selector}: must be {allowed}$"):
        Program(parse_module(kernel(text, 0)), "k").assembly()


# ---- By four warps ---------------------------------------------------------------------------------------------------


def by_group(
    kinds: tuple[str, str, str], columns: int, layouts: tuple[str | int, str | int], selector: int,
    signs: tuple[int, int] = (1, 1), planted: int | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Registers of D [register, warp and lane] that wgmma.sp gives, and those of the same product by NumPy.

    layouts: of A and B: the bytes of the swizzle's pattern, "registers", or "turned" and them. planted: metadata.
    """
    d_kind, a_kind, b_kind = kinds
    depth = WGMMA_DEPTHS[a_kind]
    random = np.random.default_rng(5)
    (a_low, a_high), (b_low, b_high) = (RANGES.get(kind, (-4, 5)) for kind in (a_kind, b_kind))
    a, b = random.integers(a_low, a_high, (64, depth)), random.integers(b_low, b_high, (depth, columns))
    c = random.integers(-50, 50, (64, columns))
    dense, stored, codes = thinned(a, a_kind, selector)
    if planted is not None:
        codes[40, 1] = planted
    image = random.integers(0, 256, 2 * MOST_IMAGE).astype(np.uint8)
    in_registers = layouts[0] == "registers"
    descriptors, turns = [0, 0], [0, 0]
    for which, (matrix, kind, layout) in enumerate(((stored, a_kind, layouts[0]), (b.T, b_kind, layouts[1]))):
        numbers, at = encoded(matrix, kind), which * MOST_IMAGE
        if layout == "registers":
            continue
        if isinstance(layout, str):
            turns[which] = 1
            descriptors[which] = along_rows(packed_bytes(numbers.T, kind), int(layout.split()[1]), image, at)
        elif which == 0:
            descriptors[0] = along_k(packed_bytes(numbers, kind), layout, 0, image, at)
        else:  # rows of 64 bytes: two parts of 32
            halves = packed_bytes(numbers, kind).reshape(columns, 2, 32)
            descriptors[1] = rows_of_64(halves, layout, image, at)
    given = (
        [held(stored[16 * w : 16 * w + 16], a_kind) for w in range(4)]
        if in_registers
        else [np.zeros((4, 32), "u4")] * 4
    )
    words = np.concatenate([metadata(codes[16 * w : 16 * w + 16], selector) for w in range(4)])
    sums = np.hstack([held(c[16 * w : 16 * w + 16], d_kind, True) for w in range(4)])
    total = (signs[0] * dense) @ (signs[1] * b) + c
    expected = np.hstack([held(total[16 * w : 16 * w + 16], d_kind, True) for w in range(4)])
    flags = ""
    if a_kind in ("f16", "bf16"):
        flags = f", {signs[0]}, {signs[1]}, " + (f"{turns[1]}" if in_registers else f"{turns[0]}, {turns[1]}")
    elif d_kind != "s32":
        flags = f", {signs[0]}, {signs[1]}"
    d_type = {"f32": "f32", "s32": "s32", "f16": "b32"}[d_kind]
    count = len(expected)
    d = "{" + ", ".join(f"%d{n}" for n in range(count)) + "}"
    name = f"wgmma.mma_async.sp.sync.aligned.m64n{columns}k{depth}.{d_kind}.{a_kind}.{b_kind}"
    body = f"""
.reg .b32 %x, %i, %to, %e; .reg .pred %more, %adds; .reg .b64 %da, %db, %row;
.reg .{d_type} %d<{count}>; .reg .b32 %a<4>;
.shared .align 1024 .b8 image[{2 * MOST_IMAGE}];
mul.lo.u32 %i, %lane, 4;
FILL:
cvt.u64.u32 %at, %i; add.u64 %at, %at, %p0; ld.global.b32 %x, [%at];
mov.u32 %to, image; add.u32 %to, %to, %i; st.shared.b32 [%to], %x;
add.u32 %i, %i, 512; setp.lt.u32 %more, %i, {2 * MOST_IMAGE};
@%more bra FILL;
bar.sync 0;
ld.global.b64 %da, [%p1]; ld.global.b64 %db, [%p1+8];
mov.u32 %to, image; shr.u32 %to, %to, 4; cvt.u64.u32 %at, %to; add.u64 %da, %da, %at; add.u64 %db, %db, %at;
mul.wide.u32 %off, %lane, 4; add.u64 %row, %p2, %off;
{" ".join(f"ld.global.b32 %a{n}, [%row+{512 * n}];" for n in range(4))}
add.u64 %row, %p4, %off; ld.global.b32 %e, [%row];
add.u64 %row, %p3, %off;
{" ".join(f"ld.global.{d_type} %d{n}, [%row+{512 * n}];" for n in range(count))}
setp.eq.u32 %adds, %i, %i;
fence.proxy.async.shared::cta;
wgmma.fence.sync.aligned;
{name} {d}, {"{%a0, %a1, %a2, %a3}" if in_registers else "%da"}, %db, %e, {selector}, %adds{flags};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
add.u64 %row, %p5, %off;
{" ".join(f"st.global.{d_type} [%row+{512 * n}], %d{n};" for n in range(count))}
"""
    found = np.zeros_like(expected)
    arrays = [image, np.array(descriptors, np.uint64), np.ascontiguousarray(np.hstack(given)),
              np.ascontiguousarray(sums), words, found]  # fmt: skip
    run(kernel(body, 6), "k", arrays, threads=128)
    return found, expected


def rows_of_64(rows: Array, pattern: int, image: Array, at: int) -> int:
    """Lay rows of two parts of 32 bytes into shared memory; the descriptor. In core matrices the four pieces of a row
    are one leading offset apart.
    """
    if pattern >= 64:
        along_k(np.ascontiguousarray(rows[:, 1]), pattern, 1, image, at)
        return along_k(np.ascontiguousarray(rows[:, 0]), pattern, 0, image, at)
    if pattern:
        return at >> 4 | 8 * pattern >> 4 << 32 | 3 << 62
    leading = len(rows) // 8 * 128 + 256
    for row, parts in enumerate(rows.reshape(len(rows), 4, 16)):
        for piece, part in enumerate(parts):
            place = at + row // 8 * 128 + row % 8 * 16 + piece * leading
            image[place : place + 16] = part
    return at >> 4 | leading >> 4 << 16 | 128 >> 4 << 32


@pytest.mark.parametrize(
    ("kinds", "columns", "layouts", "selector"),
    [
        (("f32", "f16", "f16"), 64, (128, 128), 0),
        (("f16", "f16", "f16"), 8, (32, 64), 1),
        (("f32", "bf16", "bf16"), 16, ("registers", "turned 128"), 1),
        (("f32", "f16", "f16"), 32, ("turned 128", "turned 64"), 0),
        (("f32", "bf16", "bf16"), 64, ("turned 0", 0), 0),
        (("f32", "tf32", "tf32"), 8, (64, 128), 0),
        (("f32", "tf32", "tf32"), 24, ("registers", 0), 1),
        (("f32", "e4m3", "e5m2"), 16, (0, 128), 0),
        (("f16", "e5m2", "e4m3"), 8, ("registers", 64), 0),
        (("s32", "s8", "u8"), 48, (128, 64), 0),
        (("s32", "u8", "s8"), 8, ("registers", 128), 0),
    ],
)
def test_a_product_of_four_warps_is_that_of_the_matrix_with_its_zeros(kinds, columns, layouts, selector):
    found, expected = by_group(kinds, columns, layouts, selector)
    assert np.array_equal(found, expected)


def test_signs_of_a_sparse_matrix_may_be_turned_round() -> None:
    for layouts in ((128, 128), ("registers", 128)):
        found, expected = by_group(("f32", "f16", "f16"), 8, layouts, 0, (-1, 1))
        assert np.array_equal(found, expected)


def test_what_the_manual_leaves_open_ends_the_launch() -> None:
    with pytest.raises(Faulted, match=str(BAD_DESCRIPTOR)):
        by_group(("f32", "f16", "f16"), 8, (128, 32), 0)
    with pytest.raises(Faulted, match=str(BAD_METADATA)):
        by_group(("f32", "f16", "f16"), 8, (128, 128), 0, planted=0b0001)

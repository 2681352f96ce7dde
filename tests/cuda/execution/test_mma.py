"""mma.sync against NumPy: small whole numbers, of which all products and sums are exact in every type."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from simtmm.cuda.execution.instructions.matrices.products import MMA_SHAPES
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError
from tests.cuda.execution.kernels import kernel, run

Array = npt.NDArray[Any]

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "e4m3": 8, "e5m2": 8,
        "f32": 32, "s32": 32}  # fmt: skip
SUMS = {"f16": ["f16", "f32"], "bf16": ["f32"], "tf32": ["f32"], "f64": ["f64"], "e4m3": ["f16", "f32"],
        "e5m2": ["f32"]}  # fmt: skip
RANGES = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}


def sizes(shape: str) -> tuple[int, int, int]:
    """m, n and k."""
    rows, rest = shape[1:].split("n")
    columns, depth = rest.split("k")
    return int(rows), int(columns), int(depth)


def encoded(values: Array, kind: str) -> Array:
    """Whole numbers as the bits of a type, each in a uint64."""
    match kind:
        case "f16":
            return values.astype(np.float16).view(np.uint16).astype(np.uint64)
        case "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint64)
        case "f32" | "tf32":
            return values.astype(np.float32).view(np.uint32).astype(np.uint64)
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case "e5m2":
            return (values.astype(np.float16).view(np.uint16) >> 8).astype(np.uint64)
        case "e4m3":
            codes = {0: 0x00, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48}
            return np.vectorize(lambda v: codes[abs(int(v))] | (0x80 if v < 0 else 0))(values).astype(np.uint64)
    return (values.astype(np.int64) & ((1 << BITS[kind]) - 1)).astype(np.uint64)


def held(matrix: Array, kind: str, accumulator: bool = False) -> Array:
    """Registers [register, lane] of a matrix, as the figures of the PTX ISA number them.

    The second factor is given transposed: its figures are those of the first with row and column exchanged.
    """
    width = max(32, BITS[kind])
    packed = 1 if kind == "tf32" else width // BITS[kind]
    codes = encoded(matrix, kind)
    rows = matrix.shape[0]
    each = 2 if accumulator and packed == 1 else packed  # elements of a row behind one another in a lane
    found = np.zeros((rows * matrix.shape[1] // 32 // packed, 32), np.uint64)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for index in range(found.shape[0] * packed):
            row = group + 8 * (index // each % (rows // 8))
            column = thread * each + index % each + 4 * each * (index // each // (rows // 8))
            found[index // packed, lane] |= codes[row, column] << np.uint64(BITS[kind] * (index % packed))
    return found.astype(np.uint64 if width == 64 else np.uint32)


Matrices = tuple[str, Array, Array, Array, tuple[str, str, str, str]]


def scoped(instruction: str, first: int, counts: list[int], kinds: list[str]) -> str:
    """d = a b + c, with registers of its own: arrays a, b, c, d from a number on. counts, kinds: of their registers."""
    body = []
    for place, (letter, count, kind) in enumerate(zip("abcd", counts, kinds, strict=True), first):
        size = int(kind[1:]) // 8
        body.append(f".reg .{kind} %{letter}<{count}>;")
        body.append(f"mul.wide.u32 %off, %lane, {size}; add.u64 %p{place}, %p{place}, %off;")
        if letter != "d":
            body += [f"ld.global.{kind} %{letter}{n}, [%p{place}+{32 * size * n}];" for n in range(count)]
    names = ["{" + ", ".join(f"%{x}{n}" for n in range(count)) + "}" for x, count in zip("abcd", counts, strict=True)]
    body.append(f"{instruction} {names[3]}, {names[0]}, {names[1]}, {names[2]};")
    size = int(kinds[3][1:]) // 8
    body += [f"st.global.{kinds[3]} [%p{first + 3}+{32 * size * n}], %d{n};" for n in range(counts[3])]
    return "\n".join(["{", *body, "}"])


def all_multiplied(products: list[Matrices]) -> list[Array]:
    """Registers of d that mma gives, all in one kernel, for modifiers, a [m, k], b [k, n], c, types of d, a, b, c."""
    arrays: list[Array] = []
    body = []
    for modifiers, a, b, c, kinds in products:
        d_kind, a_kind, b_kind, c_kind = kinds
        given = [held(a, a_kind), held(b.T, b_kind), held(c, c_kind, True)]
        given.append(np.zeros_like(held(np.zeros(c.shape), d_kind, True)))
        types = [f"b{8 * x.itemsize}" for x in given]
        body.append(scoped(f"mma.sync.aligned.{modifiers}", len(arrays), [len(x) for x in given], types))
        arrays += given
    run(kernel("\n".join(body), len(arrays)), "k", arrays)
    return arrays[3::4]


def multiplied(modifiers: str, a: Array, b: Array, c: Array, kinds: tuple[str, str, str, str]) -> Array:
    """The same of one."""
    return all_multiplied([(modifiers, a, b, c, kinds)])[0]


@pytest.mark.parametrize("kind", sorted({kind for kinds in MMA_SHAPES.values() for kind in kinds}))
def test_a_product_is_that_of_the_matrices_the_lanes_hold(kind: str) -> None:
    random = np.random.default_rng(1)
    low, high = RANGES.get(kind, (-4, 5))
    bitwise = ".and.popc" if kind == "b1" else ""
    products: list[Matrices] = []
    for shape in (shape for shape, kinds in MMA_SHAPES.items() if kind in kinds):
        rows, columns, depth = sizes(shape)
        for total in SUMS.get(kind, ["s32"]):
            a, b = random.integers(low, high, (rows, depth)), random.integers(low, high, (depth, columns))
            c = random.integers(-50, 50, (rows, columns))
            types = f"{total}.{kind}.{kind}.{total}"
            products.append((f"{shape}.row.col.{types}{bitwise}", a, b, c, (total, kind, kind, total)))
    for result, (name, a, b, c, kinds) in zip(all_multiplied(products), products, strict=True):
        assert np.array_equal(result, held(a @ b + c, kinds[0], True)), name


def test_signs_of_the_factors_may_differ() -> None:
    random = np.random.default_rng(2)
    a, b = random.integers(-128, 128, (16, 32)), random.integers(0, 256, (32, 8))
    c = random.integers(-9, 9, (16, 8))
    result = multiplied("m16n8k32.row.col.s32.s8.u8.s32", a, b, c, ("s32", "s8", "u8", "s32"))
    assert np.array_equal(result, held(a @ b + c, "s32", True))


@pytest.mark.parametrize(("saturates", "expected"), [(True, 2**31 - 1), (False, -(2**31) + 9)])
def test_satfinite_holds_whole_numbers_within_32_bits(saturates: bool, expected: int) -> None:
    a, b = np.ones((16, 16)), np.ones((16, 8))
    a[:, 10:] = 0  # sums of 10
    c = np.full((16, 8), 2**31 - 1)
    how = ".satfinite" if saturates else ""
    result = multiplied(f"m16n8k16.row.col{how}.s32.s8.s8.s32", a, b, c, ("s32", "s8", "s8", "s32"))
    assert (result.view(np.int32) == expected).all()


def test_single_bits_may_be_compared() -> None:
    random = np.random.default_rng(4)
    a, b = random.integers(0, 2, (16, 256)), random.integers(0, 2, (256, 8))
    c = np.zeros((16, 8))
    result = multiplied("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", a, b, c, ("s32", "b1", "b1", "s32"))
    differ = (a[:, :, None] != b[None]).sum(1)
    assert np.array_equal(result, held(differ, "s32", True))


def test_products_are_summed_at_once() -> None:
    # Added one by one in f32, 2^-24 would be lost 16 times beside 1; together they are 2^-20.
    a, b = np.full((16, 16), 2.0**-12), np.full((16, 8), 2.0**-12)
    result = multiplied("m16n8k16.row.col.f32.f16.f16.f32", a, b, np.ones((16, 8)), ("f32", "f16", "f16", "f32"))
    assert (result.view(np.float32) == np.float32(1 + 2.0**-20)).all()


@pytest.mark.parametrize(
    ("factor", "given", "expected"),
    [
        (2.0**-13, 1, 1),  # 2^-26 is cut off 16 times beside 1, whose last bit kept is 2^-25
        (2.0**-12, -1, -1 + 2.0**-20),
        (1.5, 2.0**-30, 36),  # 2^-30 is cut off beside a product that begins with 1, not with 2.25
        (0, 2.0**-140, 2.0**-140),  # zeros cut off nothing
        (0, -0.0, 0),
        (2 - 2.0**-10, 2 - 2.0**-23, 66 - 2.0**-4 + 2.0**-17),  # more than 2^31 units
    ],
)
def test_what_is_too_small_beside_the_largest_is_cut_off(factor: float, given: float, expected: float) -> None:
    a, b, c = np.full((16, 16), factor), np.full((16, 8), factor), np.full((16, 8), given)
    result = multiplied("m16n8k16.row.col.f32.f16.f16.f32", a, b, c, ("f32", "f16", "f16", "f32"))
    assert (result == np.float32(expected).view(np.uint32)).all()


def test_a_sum_of_f32_goes_toward_zero_and_one_of_f16_to_the_nearest() -> None:
    a, b = np.zeros((16, 8)), np.zeros((8, 8))
    a[:, 0], b[0] = -(2.0**-12), 1.5 * 2.0**-12
    near = multiplied("m16n8k8.row.col.f32.f16.f16.f32", a, b, np.full((16, 8), -1), ("f32", "f16", "f16", "f32"))
    assert (near.view(np.float32) == -1).all()
    a[:, 0], b[0] = -(2.0**-6), 1.5 * 2.0**-5
    near = multiplied("m16n8k8.row.col.f16.f16.f16.f16", a, b, np.full((16, 8), -1), ("f16", "f16", "f16", "f16"))
    assert (near.view(np.float16) == np.float16(-1 - 2.0**-10)).all()


def test_tf32_leaves_the_lowest_bits_out() -> None:
    a, b = np.full((16, 4), 1 + 2.0**-11), np.ones((4, 8))
    result = multiplied("m16n8k4.row.col.f32.tf32.tf32.f32", a, b, np.zeros((16, 8)), ("f32", "tf32", "tf32", "f32"))
    assert (result.view(np.float32) == 4).all()


def test_infinities_that_cancel_give_the_nan_of_gpus() -> None:
    a, b = np.ones((16, 8)), np.ones((8, 8))
    a[:, 0], a[:, 1] = np.inf, -np.inf
    result = multiplied("m16n8k8.row.col.f32.f16.f16.f32", a, b, np.zeros((16, 8)), ("f32", "f16", "f16", "f32"))
    assert (result == 0x7FFFFFFF).all()


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};", "as sm_70 alone does"),
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0}, %r0, 0;",
            "has 1 registers where a fragment has 2",
        ),
        ("mma.sync.aligned.m16n8k7.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};", "does not accept .m16n8k7"),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%r0}, {%r0}, {%r0}, {%r0};",
            "types that m16n8k16 does not",
        ),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%r0}, {%r0}, {%r0}, {%r0};", "don't go together"),
        ("mma.sync.aligned.m16n8k16.row.col.s32.f16.f16.s32 {%r0}, {%r0}, {%r0}, {%r0};", "known: f16, f32"),
        ("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};", "one type for the sum and"),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};",
            "has 1 registers where a fragment has 4",
        ),
    ],
)
def test_what_is_not_run_is_refused(instruction: str, why: str) -> None:
    module = parse_module(kernel(instruction, 0, ".reg .b32 %r<4>;"))
    with pytest.raises(PtxError, match=f"PTX line .*`{instruction[:20]}.*{why}"):
        Program(module, "k").assembly()

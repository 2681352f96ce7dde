"""wmma: loads, products and stores of fragments, by PTX and by CUDA's mma.h."""

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.execution.instructions.matrices.fragments import Fragment
from simtmm.cuda.execution.instructions.matrices.products import WMMA_SHAPES
from simtmm.cuda.execution.layout import OUT_OF_BOUNDS
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError
from tests.cuda.execution.kernels import Array, Faulted, kernel, run
from tests.cuda.execution.test_mma import BITS, RANGES, SUMS, encoded, sizes

PAD = 16  # elements between rows, and between columns
FRAGMENTS = {"f16": 8, "bf16": 0}  # registers that PTX has for a factor whatever its shape


def stored(matrix: Array, kind: str, layout: str) -> Array:
    """A matrix in memory, its rows or columns PAD elements further apart than they are long; bytes."""
    lines = encoded(matrix if layout == "row" else matrix.T, kind)
    wide = np.zeros((lines.shape[0], lines.shape[1] + PAD * 32 // max(4, BITS[kind])), np.uint64)
    wide[:, : lines.shape[1]] = lines
    if BITS[kind] < 8:
        bits = (wide[:, :, None] >> np.arange(BITS[kind], dtype=np.uint64)) & np.uint64(1)
        return np.packbits(bits.astype(np.uint8).reshape(-1), bitorder="little")
    return wide.astype(f"u{BITS[kind] // 8}").reshape(-1).view(np.uint8)


def stride(matrix: Array, kind: str, layout: str) -> int:
    """Elements from row to row, or from column to column."""
    return matrix.shape[1 if layout == "row" else 0] + PAD * 32 // max(4, BITS[kind])


def product(
    first: int, shape: str, kind: str, total: str, layouts: tuple[str, str, str, str], space: str
) -> tuple[str, list[Array], Array]:
    """PTX of a product with registers of its own, its arrays a, b, c, d from a number on, and what d must become."""
    rows, columns, depth = sizes(shape)
    random = np.random.default_rng(first)
    low, high = RANGES.get(kind, (-4, 5))
    a, b = random.integers(low, high, (rows, depth)), random.integers(low, high, (depth, columns))
    c = random.integers(-50, 50, (rows, columns))
    counts = [
        FRAGMENTS.get(kind) or Fragment(rows, depth, kind).registers,
        FRAGMENTS.get(kind) or Fragment(columns, depth, kind).registers,
        Fragment(rows, columns, total, True).registers,
        Fragment(rows, columns, total, True).registers,
    ]
    bits = [max(32, BITS[each]) for each in (kind, kind, total, total)]
    body = [f".reg .b{width} %{x}<{n}>;" for x, n, width in zip("abcd", counts, bits, strict=True)]
    names = ["{" + ", ".join(f"%{x}{n}" for n in range(count)) + "}" for x, count in zip("abcd", counts, strict=True)]
    matrices, kinds = (a, b, c), (kind, kind, total)
    for place, (letter, matrix) in enumerate(zip("abc", matrices, strict=True)):
        name = f"wmma.load.{letter}.sync.aligned.{layouts[place]}.{shape}{space}.{kinds[place]}"
        step = stride(matrix, kinds[place], layouts[place])
        body.append(f"{name} {names[place]}, [%p{first + place}], {step};")
    types = f"{total}.{total}" if kind == "f16" else f"{total}.{kind}.{kind}.{total}"
    bitwise = ".and.popc" if kind == "b1" else ""
    name = f"wmma.mma{bitwise}.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{types}"
    body.append(f"{name} {names[3]}, {names[0]}, {names[1]}, {names[2]};")
    name = f"wmma.store.d.sync.aligned.{layouts[3]}.{shape}{space}.{total}"
    body.append(f"{name} [%p{first + 3}], {names[3]}, {stride(c, total, layouts[3])};")
    given = [stored(m, k, layout) for m, k, layout in zip(matrices, kinds, layouts, strict=False)]
    expected = stored(a @ b + c, total, layouts[3])
    return "\n".join(["{", *body, "}"]), [*given, np.zeros_like(expected)], expected


def check(cases: list[tuple[str, str, str]], layouts: tuple[str, str, str, str], space: str) -> None:
    """Products of shapes, types and types of the sum, in one kernel."""
    products = [product(4 * n, *case, layouts, space) for n, case in enumerate(cases)]
    arrays = [array for _, given, _ in products for array in given]
    run(kernel("\n".join(text for text, _, _ in products), len(arrays)), "k", arrays)
    for case, result, (_, _, expected) in zip(cases, arrays[3::4], products, strict=True):
        assert np.array_equal(result, expected), case


@pytest.mark.parametrize("shape", WMMA_SHAPES)
def test_a_product_of_matrices_in_memory(shape: str) -> None:
    kinds = sorted(WMMA_SHAPES[shape])
    cases = [(shape, kind, total) for kind in kinds for total in SUMS.get(kind, ["s32"])]
    check(cases, ("row", "col", "row", "col"), ".global")


def test_a_product_of_matrices_that_lie_the_other_way() -> None:
    cases = [
        ("m32n8k16", "f16", "f16"), ("m16n16k16", "u8", "s32"), ("m16n16k8", "tf32", "f32"), ("m8n8k4", "f64", "f64"),
        ("m8n32k16", "bf16", "f32"),
    ]  # fmt: skip
    check(cases, ("col", "row", "col", "row"), "")


SOURCE = r"""
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void gemm(const __half* a, const __half* b, float* c, int n) {
    __shared__ float tile[16 * 24];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    int row = blockIdx.x / (n / 16) * 16, column = blockIdx.x % (n / 16) * 16;
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + column, n);
        for (int i = 0; i < fa.num_elements; i++) fa.x[i] = fa.x[i] + __half(1);  // each once
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
    wmma::store_matrix_sync(tile, fc, 24, wmma::mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) c[(row + i / 16) * n + column + i % 16] = tile[i % 16 * 24 + i / 16];
}
"""


def test_a_kernel_of_mma_h() -> None:
    n = 48
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    run(compile_source(SOURCE, architecture=80).ptx, "gemm", [a, b, c, np.int32(n)], grid=9)
    assert np.array_equal(c, 2 * (a.astype(np.float32) + 1) @ b.astype(np.float32))


@pytest.mark.parametrize("layout", ["row", "col"])
def test_the_log_has_all_of_the_matrix_once(layout: str) -> None:
    # f16, 16 times 16, 40 elements from line to line: a lane stands for half a line of 32 bytes.
    text = kernel(
        f"wmma.load.a.sync.aligned.{layout}.m16n16k16.f16 {{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}}, [%p0], 40;",
        1,
        ".reg .b32 %a<8>;",
    )
    logged = run(text, "k", [np.zeros(40 * 16, np.float16)], record=True)
    assert len(logged) == 1
    kind, mask, addresses = logged[0]
    assert (kind, mask) == ("async", 0xFFFFFFFF)
    first = addresses[0]
    assert [address - first for address in addresses] == [80 * (n // 2) + 16 * (n % 2) for n in range(32)]


def test_a_matrix_must_lie_within_its_array() -> None:
    text = kernel(
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%p0], 16;",
        1,
        ".reg .b32 %a<8>;",
    )
    with pytest.raises(Faulted, match=str(OUT_OF_BOUNDS)):
        run(text, "k", [np.zeros(255, np.float16)])


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f64 {%a0}, [%p0], 16;", "not known for m16n16k16"),
        ("wmma.load.b.sync.aligned.row.m8n8k32.global.s4 {%a0}, [%p0], 32;", "less than a byte across"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%a0}, [%p0], 16;", "has 1 registers where"),
    ],
)
def test_what_is_not_known_is_refused(instruction: str, why: str) -> None:
    with pytest.raises(PtxError, match=f"PTX line .*`wmma.load.*{why}"):
        Program(parse_module(kernel(instruction, 1, ".reg .b32 %a<8>;")), "k").assembly()

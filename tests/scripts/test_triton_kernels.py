"""Kernels of Triton, of many kinds, compiled by Triton and run without a GPU: each gives what NumPy gives."""

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm.scripts.triton import ADAPTER

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def adapter() -> Iterator[None]:
    with ADAPTER.installed():
        yield


rng = np.random.default_rng(19)


def reals(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    total = x + y
    tl.store(out_ptr + offsets, total, mask=mask)


def test_arrays_of_numpy_are_added_and_lines_are_those_of_this_file():
    x, y, out = reals(1000), reals(1000), np.zeros(1000, np.float32)
    with simtmm.recording(architecture=90) as recording:
        add[(triton.cdiv(1000, 256),)](x, y, out, 1000, BLOCK=256)
    np.testing.assert_array_equal(out, x + y)
    info = recording.trace.info
    assert [(each.kernel, each.grid, each.block) for each in info.launches] == [("add", (4, 1, 1), (128, 1, 1))]
    assert [(each.name, each.dtype, each.shape) for each in info.arrays] == [
        (name, "<f4", (1000,)) for name in ("x_ptr", "y_ptr", "out_ptr")
    ]
    stores, loads = (
        {site.source for site in info.sites if site.kind in kind} for kind in (("store",), ("load", "async"))
    )
    assert stores == {"tl.store(out_ptr + offsets, total, mask=mask)"}
    assert loads == {"x = tl.load(x_ptr + offsets, mask=mask)", "y = tl.load(y_ptr + offsets, mask=mask)"}
    assert {Path(site.file).absolute() for site in info.sites if site.line} == {Path(__file__)}


DOUBLE = """import triton, triton.language as tl
@triton.jit
def double(x_ptr, BLOCK: tl.constexpr):
    at = x_ptr + tl.arange(0, BLOCK)
    tl.store(at, 2 * tl.load(at))
"""


def test_lines_of_a_copy_are_those_of_the_copy(tmp_path):
    for name in ("first", "copied"):
        file = tmp_path / f"{name}.py"
        file.write_text(DOUBLE)
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        x = np.arange(128, dtype=np.float32)
        with simtmm.recording(architecture=90) as recording:
            module.double[(1,)](x, BLOCK=128)
        assert x.tolist() == list(range(0, 256, 2))
        assert {Path(site.file).name for site in recording.trace.info.sites if site.line} == {file.name}


@triton.jit
def softmax(out_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=columns < n)


@pytest.mark.parametrize("num_warps", [1, 8])
def test_softmax(num_warps: int):
    x, out = reals(7, 300), np.zeros((7, 300), np.float32)
    softmax[(7,)](out, x, 300, 300, BLOCK=512, num_warps=num_warps)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, scale_ptr, n, eps, BLOCK: tl.constexpr):  # noqa: PLR0913, PLR0917 - a kernel's arguments, as Triton's programs have them
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
        x = tl.where(columns < n, x - mean, 0.0)
        squares += x * x
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(scale_ptr + row, scale)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * n + columns, mask=mask)
        y = (x - mean) * scale * tl.load(w_ptr + columns, mask=mask) + tl.load(b_ptr + columns, mask=mask)
        tl.store(y_ptr + row * n + columns, y, mask=mask)


@triton.jit
def norm_backward(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, scale_ptr, lock_ptr, n, BLOCK: tl.constexpr):  # noqa: PLR0913, PLR0917 - a kernel's arguments, as Triton's programs have them
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0)
    dy = tl.load(dy_ptr + row * n + columns, mask=mask, other=0)
    w = tl.load(w_ptr + columns, mask=mask)
    scale = tl.load(scale_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * scale, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    first, second = tl.sum(normal * wdy, axis=0) / n, tl.sum(wdy, axis=0) / n
    tl.store(dx_ptr + row * n + columns, (wdy - (normal * first + second)) * scale, mask=mask)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(lock_ptr + 1)
    dw, db = dy * normal, dy
    if count == 0:
        tl.atomic_xchg(lock_ptr + 1, 1)
    else:
        dw += tl.load(dw_ptr + columns, mask=mask)
        db += tl.load(db_ptr + columns, mask=mask)
    tl.store(dw_ptr + columns, dw, mask=mask)
    tl.store(db_ptr + columns, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def test_layernorm_forward_and_backward_with_a_lock():
    rows, n = 5, 100
    x, w, b, dy = reals(rows, n), reals(n), reals(n), reals(rows, n)
    y, mean, scale = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    norm_forward[(rows,)](x, y, w, b, mean, scale, n, 1e-5, BLOCK=64)
    centred = (x - x.mean(1, keepdims=True)).astype(np.float64)
    deviation = np.sqrt(centred.var(1, keepdims=True) + 1e-5)
    normal = centred / deviation
    np.testing.assert_allclose(y, normal * w + b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, x.mean(1), rtol=1e-4, atol=1e-6)

    dx, dw, db, lock = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b), np.zeros(2, np.int32)
    norm_backward[(rows,)](dx, dy, dw, db, x, w, mean, scale, lock, n, BLOCK=128)
    wdy = w * dy
    first, second = (normal * wdy).mean(1, keepdims=True), wdy.mean(1, keepdims=True)
    np.testing.assert_allclose(dx, (wdy - (normal * first + second)) / deviation, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(dw, (dy * normal).sum(0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(db, dy.sum(0), rtol=1e-3, atol=1e-4)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):  # noqa: PLR0913, PLR0917 - a kernel's arguments, as Triton's programs have them
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(
            b_ptr + k[:, None] * N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0
        )
        total = tl.dot(a, b, total, input_precision=PRECISION)
    place = c_ptr + rows[:, None] * N + columns[None, :]
    tl.store(place, total.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@pytest.mark.parametrize(
    ("kind", "precision", "stages", "tolerance"),
    [
        (np.float16, "tf32", 3, 2e-3),
        (np.float32, "tf32", 2, 4e-3),
        (np.float32, "ieee", 1, 1e-5),
    ],
)
def test_matrix_products(kind: type, precision: str, stages: int, tolerance: float):
    m, n, k = 70, 64, 96
    a, b, c = reals(m, k, dtype=kind), reals(k, n, dtype=kind), np.zeros((m, n), np.float32)
    matmul[(2, 1)](a, b, c, m, n, k, BM=64, BN=64, BK=32, PRECISION=precision, num_stages=stages)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=tolerance, atol=10 * tolerance)


@triton.jit
def matmul_int(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(a_ptr + i[:, None] * N + i[None, :])
    b = tl.load(b_ptr + i[:, None] * N + i[None, :])
    tl.store(c_ptr + i[:, None] * N + i[None, :], tl.dot(a, b, out_dtype=tl.int32))


def test_a_product_of_whole_numbers():
    a, b = rng.integers(-100, 100, (2, 32, 32)).astype(np.int8)
    c = np.zeros((32, 32), np.int32)
    matmul_int[(1,)](a, b, c, N=32)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def philox(counter: np.ndarray, seed: int) -> np.ndarray:
    """Philox 4x32-10, the first of four numbers (Salmon and others, 2011)."""
    c = [counter.astype(np.uint64), *(np.zeros(len(counter), np.uint64) for _ in range(3))]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), second & low,
            (first >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), first & low,
        ]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return c[0].astype(np.uint32)


def test_dropout_by_philox():
    x, out = reals(500), np.zeros(500, np.float32)
    dropout[(2,)](x, out, 500, 0.5, 123, BLOCK=256)
    bits = philox(np.arange(500), 123).astype(np.int64)
    signed = np.where(bits >= 2**31, bits - 2**32, bits)
    uniform = np.where(signed < 0, -signed - 1, signed) * np.float32(4.6566127342e-10)
    np.testing.assert_allclose(out, np.where(uniform > 0.5, x * 2, 0), rtol=1e-6)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):  # noqa: PLR0913, PLR0917 - a kernel's arguments, as Triton's programs have them
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    most = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        columns = start + tl.arange(0, BN)
        k = tl.load(k_ptr + columns[None, :] * D + d[:, None])
        scores = tl.dot(q, k) * scale
        scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        p = tl.math.exp2(scores - higher[:, None])
        alpha = tl.math.exp2(most - higher)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + columns[:, None] * D + d[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc * alpha[:, None])
        most = higher
    tl.store(out_ptr + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


def test_fused_attention_that_is_causal():
    n, d = 128, 32
    q, k, v = reals(n, d, dtype=np.float16), reals(n, d, dtype=np.float16), reals(n, d, dtype=np.float16)
    out = np.zeros_like(q)
    attention[(2,)](q, k, v, out, n, d**-0.5 * math.log2(math.e), D=d, BM=64, BN=32)
    scores = (q.astype(np.float64) @ k.astype(np.float64).T) * d**-0.5
    scores[np.triu_indices(n, 1)] = -np.inf
    p = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(out, (p / p.sum(1, keepdims=True)) @ v.astype(np.float64), rtol=1e-2, atol=5e-3)


@triton.jit
def scans(x_ptr, sums_ptr, products_ptr, sorted_ptr, flipped_ptr, arg_ptr, ROWS: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + place)
    tl.store(sums_ptr + place, tl.cumsum(x, 1))
    tl.store(products_ptr + place, tl.cumprod(x, 1, reverse=True))
    tl.store(sorted_ptr + place, tl.sort(x, 1))
    tl.store(flipped_ptr + place, tl.flip(x, 1))
    tl.store(arg_ptr + tl.arange(0, ROWS), tl.argmax(x, 1))


def test_scans_and_sorting():
    x = reals(4, 128)
    sums, products, ordered, flipped = (np.zeros_like(x) for _ in range(4))
    arg = np.zeros(4, np.int32)
    scans[(1,)](x, sums, products, ordered, flipped, arg, ROWS=4, N=128)
    np.testing.assert_allclose(sums, np.cumsum(x.astype(np.float64), 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(products, np.cumprod(x[:, ::-1].astype(np.float64), 1)[:, ::-1], rtol=1e-4, atol=1e-30)
    np.testing.assert_array_equal(ordered, np.sort(x, 1))
    np.testing.assert_array_equal(flipped, x[:, ::-1])
    np.testing.assert_array_equal(arg, x.argmax(1))


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    counts = tl.histogram(x, BINS, mask=offsets < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def transpose(x_ptr, out_ptr, M, N, B: tl.constexpr):
    rows, columns = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=(rows[:, None] < M) & (columns[None, :] < N))
    tl.store(
        out_ptr + columns[:, None] * M + rows[None, :], tl.trans(x), mask=(columns[:, None] < N) & (rows[None, :] < M)
    )


@triton.jit
def convolve(x_ptr, w_ptr, out_ptr, H, W, KH: tl.constexpr, KW: tl.constexpr, B: tl.constexpr):
    y = tl.program_id(0)
    x = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for i in tl.static_range(KH):
        for j in tl.static_range(KW):
            total += tl.load(x_ptr + (y + i) * W + x + j, mask=x + j < W, other=0.0) * tl.load(w_ptr + i * KW + j)
    tl.store(out_ptr + y * (W - KW + 1) + x, total, mask=x < W - KW + 1)


def test_histogram_transpose_convolution():
    x = rng.integers(0, 16, 700).astype(np.int32)
    counts = np.zeros(16, np.int32)
    histogram[(3,)](x, counts, 700, BLOCK=256, BINS=16)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=16))

    matrix, turned = reals(50, 70), np.zeros((70, 50), np.float32)
    transpose[(2, 3)](matrix, turned, 50, 70, B=32)
    np.testing.assert_array_equal(turned, matrix.T)

    image, weights, out = reals(12, 80), reals(3, 5), np.zeros((10, 76), np.float32)
    convolve[(10, 2)](image, weights, out, 12, 80, KH=3, KW=5, B=64)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 5))
    np.testing.assert_allclose(out, (windows * weights).sum((2, 3)), rtol=1e-4, atol=1e-5)


@triton.jit
def atomics(x_ptr, f_ptr, ints_ptr, real_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x, f = tl.load(x_ptr + offsets, mask=mask), tl.load(f_ptr + offsets, mask=mask)
    zeros = offsets * 0
    tl.atomic_add(ints_ptr + zeros, x, mask=mask)
    tl.atomic_max(ints_ptr + zeros + 1, x, mask=mask)
    tl.atomic_min(ints_ptr + zeros + 2, x, mask=mask)
    tl.atomic_or(ints_ptr + zeros + 3, x, mask=mask)
    tl.atomic_and(ints_ptr + zeros + 4, x, mask=mask)
    tl.atomic_xor(ints_ptr + zeros + 5, x, mask=mask)
    tl.atomic_add(real_ptr + zeros, f, mask=mask)
    tl.atomic_max(real_ptr + zeros + 1, f, mask=mask)


def test_atomics_of_all_kinds():
    x, f = rng.integers(0, 2**20, 300).astype(np.int32), reals(300)
    ints, real = np.array([0, 0, 2**30, 0, -1, 0], np.int32), np.array([0, -100], np.float32)
    atomics[(2,)](x, f, ints, real, 300, BLOCK=256)
    assert list(ints[:3]) == [x.sum(), x.max(), x.min()]
    assert list(ints[3:]) == [np.bitwise_or.reduce(x), np.bitwise_and.reduce(x), np.bitwise_xor.reduce(x)]
    np.testing.assert_allclose(real, [f.sum(), f.max()], rtol=1e-4, atol=1e-4)


@triton.jit
def functions(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.sin(x) + tl.cos(x) + tl.log(x) + tl.exp(x) + tl.sqrt(x) + tl.rsqrt(x))
    tl.store(out_ptr + N + i, tl.erf(x) + tl.sigmoid(x) + tl.floor(x * 7) + tl.ceil(x * 3) + tl.abs(-x))
    tl.store(
        out_ptr + 2 * N + i, libdevice.tanh(x) + libdevice.pow(x, 1.5) + libdevice.asin(x) + libdevice.fmod(x, 0.3)
    )
    tl.store(out_ptr + 3 * N + i, tl.fdiv(x, x + 1) + tl.fma(x, x, x) + tl.clamp(x, 0.2, 0.6) + tl.log2(x) + tl.exp2(x))


from triton.language.extra import libdevice  # noqa: E402


def test_mathematical_functions():
    x = rng.uniform(0.05, 0.95, 128).astype(np.float32)
    out = np.zeros((4, 128), np.float32)
    functions[(1,)](x, out, N=128)
    v = x.astype(np.float64)
    wanted = [
        np.sin(v) + np.cos(v) + np.log(v) + np.exp(v) + np.sqrt(v) + 1 / np.sqrt(v),
        np.array([math.erf(each) for each in v]) + 1 / (1 + np.exp(-v)) + np.floor(x * 7) + np.ceil(x * 3) + v,
        np.tanh(v) + v**1.5 + np.arcsin(v) + np.fmod(x, np.float32(0.3)),
        v / (v + 1) + v * v + v + np.clip(v, 0.2, 0.6) + np.log2(v) + np.exp2(v),
    ]
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)


@triton.jit
def mixed(x_ptr, half_ptr, double_ptr, long_ptr, flag, scale, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(half_ptr + i, (x * scale).to(tl.float16))
    tl.store(double_ptr + i, x.to(tl.float64) / 3.0)
    if flag:
        tl.store(long_ptr + i, (x * 1000).to(tl.int64) // 7 + i % 3)
    tl.store(x_ptr + i, x.to(tl.bfloat16).to(tl.float32))


def test_types_and_scalars():
    x = reals(64)
    before, half, double, long = x.copy(), np.zeros(64, np.float16), np.zeros(64), np.zeros(64, np.int64)
    mixed[(1,)](x, half, double, long, True, 2.5, N=64)
    np.testing.assert_allclose(half, (before * np.float32(2.5)).astype(np.float16))
    np.testing.assert_allclose(double, before.astype(np.float64) / 3)
    thousands = (before * np.float32(1000)).astype(np.int64)
    np.testing.assert_array_equal(long, np.trunc(thousands / 7).astype(np.int64) + np.arange(64) % 3)
    rounded = ((before.view(np.uint32) + 0x7FFF + ((before.view(np.uint32) >> 16) & 1)) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(x, rounded)

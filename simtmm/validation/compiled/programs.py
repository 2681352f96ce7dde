"""The measured cases as programs: arrays, launches and what must come out, for the kernels beside this file."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.errors import StudyError, nearest
from simtmm.kernel import Array, Kernel, Launch
from simtmm.measurement.case import Case, case_kernel

FOLDER = Path(__file__).parent
ALPHA, BETA = np.float32(1.5), np.float32(1.25)
THREADS = 256  # of a block, in kernels of the CUDA SDK
TILE = 16  # of a matrix that blocks take in tiles
SUM_THREADS = 512  # of a block of a sum of the ladder
SUM_BLOCKS = 1024  # where each thread adds many elements up
READ_PARTS_THREADS, READ_PARTS_STEPS = 1024, 8  # of a block that reads a part of a buffer, four pairs a thread each
READ_PARTS_BYTES = READ_PARTS_THREADS * READ_PARTS_STEPS * 4 * 2 * 8
CONVOLUTION = (  # of a point: a factor, and the neighbour's plane, row and column
    (-1, (-1, -1, -1)), (21, (1, -1, -1)), (-3, (0, -1, 0)), (6, (0, 0, 0)), (-9, (0, 1, 0)), (2, (-1, -1, 1)),
    (4, (1, -1, 1)), (5, (-1, 0, 1)), (7, (1, 0, 1)), (-8, (-1, 1, 1)), (10, (1, 1, 1)),
)  # fmt: skip
WALSH_PART = 11  # bits of the largest part of a Walsh transform that a block does in shared memory
SORTED_KEYS = 1024  # of a block
PRODUCT_BLOCKS = 128  # of scalar-product, however many vectors there are


def program(kernel: str, parameters: Mapping[str, Any]) -> Kernel:
    """The program of a measured case, its answer checked when it is recorded. Raises StudyError for an unknown kernel.

    kernel: a name in CASES. parameters: as the file of measured times tells them, whole numbers.
    """
    if kernel not in CASES:
        raise StudyError(f"kernel {kernel!r}: has no measured cases{nearest(kernel, CASES)}")
    case = CASES[kernel](**{name: int(value) for name, value in parameters.items()})
    return case_kernel(kernel, FOLDER / case.source, lambda _: case)


def _numbers(*shape: int) -> Array:
    """Numbers from 0.5 to 1.5, the same for the same shape: sums of their products never vanish."""
    return np.random.default_rng(math.prod(shape)).uniform(0.5, 1.5, shape).astype(np.float32)


def _empty(threads: int, blocks: int) -> Case:
    return Case("empty.cu", {"nothing": np.zeros(1)}, (Launch("empty", (), blocks, threads),), {})


def _ffma(threads: int, blocks: int, iterations: int) -> Case:
    arguments = ("out", np.float32(0.5), np.float32(0.25), iterations)  # which tends to 0.5
    out = np.zeros(threads * blocks, np.float32)
    expected = {"out": np.full_like(out, 0.5)}
    return Case("ffma.cu", {"out": out}, (Launch("ffma", arguments, blocks, threads),), expected)


def _gemm(n: int, side: int) -> Case:
    a, b, c = _numbers(n, n), _numbers(n, n)[::-1].copy(), _numbers(n, n)
    launch = Launch("gemm", ("a", "b", "c", ALPHA, BETA, n), (-(-n // side),) * 2, (side, side))
    return Case("polybench.cu", {"a": a, "b": b, "c": c}, (launch,), {"c": BETA * c + ALPHA * (a @ b)})


def _syrk(n: int, side: int) -> Case:
    a, c = _numbers(n, n), _numbers(n, n)
    launch = Launch("syrk", ("a", "c", ALPHA, BETA, n), (-(-n // side),) * 2, (side, side))
    return Case("polybench.cu", {"a": a, "c": c}, (launch,), {"c": BETA * c + ALPHA * (a @ a.T)})


def _mvt(n: int, side: int) -> Case:
    a, y = _numbers(n, n), _numbers(n)
    blocks = -(-n // side)
    launches = (
        Launch("mvt_rows", ("a", "x", "y", n), blocks, side),
        Launch("mvt_columns", ("a", "z", "y", n), blocks, side),
    )
    arrays = {"a": a, "x": _numbers(n), "z": _numbers(n), "y": y}
    return Case("polybench.cu", arrays, launches, {"x": arrays["x"] + a @ y, "z": arrays["z"] + a.T @ y})


def _convolution_3d(n: int, side: int) -> Case:
    a = _numbers(n, n, n)
    blocks = (-(-n // side),) * 2
    kernel = f"convolution_3d_{n}"  # a kernel of each measured size
    launches = tuple(Launch(kernel, ("a", "b", plane), blocks, (side, side)) for plane in range(1, n - 1))
    expected = np.zeros_like(a)
    for factor, place in CONVOLUTION:
        plane, row, column = (slice(1 + by, n - 1 + by) for by in place)
        expected[1:-1, 1:-1, 1:-1] += np.float32(factor) * a[plane, row, column]
    return Case("convolution_3d.cu", {"a": a, "b": np.zeros_like(a)}, launches, {"b": expected})


def _vector_add(n: int) -> Case:
    a, b = _numbers(n), _numbers(n)[::-1].copy()
    launch = Launch("vector_add", ("a", "b", "sum", n), -(-n // THREADS), THREADS)
    return Case("vector_add.cu", {"a": a, "b": b, "sum": np.zeros_like(a)}, (launch,), {"sum": a + b})


def _copy(n: int) -> Case:
    matrix = _numbers(n, n)
    launch = Launch("copy", ("in", "out", n), (n // TILE,) * 2, (TILE, TILE))
    return Case("transpose.cu", {"in": matrix, "out": np.zeros_like(matrix)}, (launch,), {"out": matrix})


def _transpose(n: int) -> Case:
    matrix = _numbers(n, n)
    launch = Launch("transpose", ("in", "out", n, n), (n // TILE,) * 2, (TILE, TILE))
    return Case("transpose.cu", {"in": matrix, "out": np.zeros_like(matrix)}, (launch,), {"out": matrix.T.copy()})


def _scalar_product(vectors: int, elements: int) -> Case:
    a, b = _numbers(vectors, elements), _numbers(vectors, elements)[::-1].copy()
    launch = Launch("scalar_product", ("a", "b", "products", vectors, elements), PRODUCT_BLOCKS, THREADS)
    arrays = {"a": a, "b": b, "products": np.zeros(vectors, np.float32)}
    return Case("scalar_product.cu", arrays, (launch,), {"products": (a * b).sum(axis=1)})


def _scan_short(n: int, length: int) -> Case:
    numbers = np.random.default_rng(n).integers(0, 100, n, np.uint32)
    arrays = numbers.reshape(-1, length)
    before = np.cumsum(arrays, axis=1, dtype=np.uint32) - arrays
    launch = Launch("scan_short", ("in", "out", length // 4), n // (4 * THREADS), THREADS)
    out = np.zeros_like(numbers)
    return Case("scan_short.cu", {"in": numbers, "out": out}, (launch,), {"out": before.reshape(-1)})


def _walsh(log2data: int, log2kernel: int) -> Case:
    """Two transforms, their product, and the way back: a convolution by exclusive or."""
    size = 1 << log2data
    numbers, others = _numbers(size), np.zeros(size, np.float32)
    others[: 1 << log2kernel] = _numbers(1 << log2kernel)[::-1]
    launches = [*_walsh_launches("numbers", log2data), *_walsh_launches("others", log2data)]
    launches.append(Launch("walsh_product", ("numbers", "others", size), 128, THREADS))
    launches += _walsh_launches("numbers", log2data)
    product = _walsh_transformed(numbers) * _walsh_transformed(others)
    expected = (_walsh_transformed(product) / size).astype(np.float32)
    return Case("walsh.cu", {"numbers": numbers, "others": others}, tuple(launches), {"numbers": expected})


def _walsh_launches(array: str, bits: int) -> list[Launch]:
    launches, blocks, left = [], (1 << bits) // (4 * THREADS), bits
    while left > WALSH_PART:
        launches.append(Launch("walsh_step", (array, 1 << (left - 2)), blocks, THREADS))
        left -= 2
    part = 1 << left
    launches.append(Launch("walsh_part", (array, left), 1 << (bits - left), part // 4, shared_memory_bytes=4 * part))
    return launches


def _walsh_transformed(numbers: Array) -> Array:
    transformed = numbers.astype(np.float64).reshape(-1, 1)
    while len(transformed) > 1:
        low, high = np.split(transformed, 2)
        transformed = np.concatenate([low + high, low - high], axis=1)
    return transformed.reshape(-1)


def _sort_short(n: int, length: int) -> Case:
    keys = np.random.default_rng(n).permutation(n).astype(np.uint32)
    order = np.argsort(keys.reshape(-1, length), axis=1)
    values = np.arange(n, dtype=np.uint32)
    expected = {
        "out_keys": np.take_along_axis(keys.reshape(-1, length), order, 1).reshape(-1),
        "out_values": np.take_along_axis(values.reshape(-1, length), order, 1).reshape(-1),
    }
    arrays = {"in_keys": keys, "in_values": values, "out_keys": np.zeros_like(keys), "out_values": np.zeros_like(keys)}
    launch = Launch("sort_short", (*arrays, length), n // SORTED_KEYS, SORTED_KEYS // 2)
    return Case("sort.cu", arrays, (launch,), expected)


def _lud(n: int) -> Case:
    n = -(-n // TILE) * TILE  # a matrix of 8 x 8 is a tile as well
    matrix = _numbers(n, n) + n * np.eye(n, dtype=np.float32)  # whose pivots are far from 0
    launches = []
    for first in range(0, n - TILE, TILE):
        tiles = (n - first) // TILE - 1
        launches += [
            Launch("diagonal", ("matrix", n, first), 1, TILE),
            Launch("perimeter", ("matrix", n, first), tiles, 2 * TILE),
            Launch("internal", ("matrix", n, first), (tiles, tiles), (TILE, TILE)),
        ]
    launches.append(Launch("diagonal", ("matrix", n, n - TILE), 1, TILE))
    return Case("lud.cu", {"matrix": matrix}, tuple(launches), {"matrix": _decomposed(matrix)})


def _decomposed(matrix: Array) -> Array:
    """Its factors in one matrix, the lower one's diagonal of ones left out."""
    factors = matrix.astype(np.float64)
    for step in range(len(factors) - 1):
        factors[step + 1 :, step] /= factors[step, step]
        factors[step + 1 :, step + 1 :] -= np.outer(factors[step + 1 :, step], factors[step, step + 1 :])
    return factors.astype(np.float32)


def _sum(kernel: str, per_thread: int) -> Callable[[int], Case]:
    """Sums of blocks. per_thread: elements that a thread loads; 0 for as many as SUM_BLOCKS blocks leave it."""

    def case(n: int) -> Case:
        numbers = np.arange(n, dtype=np.uint32)
        arguments: tuple[str | int, ...] = ("in", "sums")
        if per_thread:
            blocks = n // (SUM_THREADS * per_thread)
            expected = numbers.reshape(blocks, -1).sum(axis=1, dtype=np.uint32)
        else:
            blocks, arguments = min(SUM_BLOCKS, n // SUM_THREADS), (*arguments, n)
            expected = numbers.reshape(-1, blocks, SUM_THREADS).sum(axis=(0, 2), dtype=np.uint32)
        launch = Launch(kernel, arguments, blocks, SUM_THREADS)
        return Case("ladder.cu", {"in": numbers, "sums": np.zeros(blocks, np.uint32)}, (launch,), {"sums": expected})

    return case


def _of_matrices(kernel: str, of: Callable[[Array, Array], Array]) -> Callable[[int], Case]:
    def case(n: int) -> Case:
        a, b = _numbers(n, n), _numbers(n, n)[::-1].copy()
        launch = Launch(kernel, ("a", "b", "c", n), (n // TILE,) * 2, (TILE, TILE))
        return Case("ladder.cu", {"a": a, "b": b, "c": np.zeros_like(a)}, (launch,), {"c": of(a, b)})

    return case


def _in_one_bin(kernel: str) -> Callable[[int], Case]:
    def case(n: int) -> Case:
        expected = np.zeros(256, np.uint32)
        expected[0] = n
        launch = Launch(kernel, ("in", "bins", n), -(-n // THREADS), THREADS)
        arrays: dict[str, Array] = {"in": np.zeros(n, np.uint8), "bins": np.zeros_like(expected)}
        return Case("ladder.cu", arrays, (launch,), {"bins": expected})

    return case


def _read_parts(kilobytes: int, blocks: int, underway: int = 0) -> Case:
    parts = kilobytes * 1024 // READ_PARTS_BYTES
    buffer = np.ones(parts * READ_PARTS_BYTES // 8)
    launch = Launch("read_parts", ("buffer", "sums", parts, underway), blocks, READ_PARTS_THREADS)
    sums = np.zeros(READ_PARTS_THREADS)
    return Case("l2.cu", {"buffer": buffer, "sums": sums}, (launch,), {"sums": sums})


def _quarter(n: int, threads: int = THREADS) -> Case:
    b = np.random.default_rng(n).uniform(0.5, 1.5, n)
    launch = Launch("quarter", ("a", "b", n), n // threads + 1, threads)
    return Case("l2.cu", {"a": np.zeros(n), "b": b}, (launch,), {"a": 0.25 * b})


def _quarter_in_trips(n: int, threads: int, blocks: int, trips: int) -> Case:
    b = np.random.default_rng(n).uniform(0.5, 1.5, max(n, 1))
    launch = Launch("quarter_in_trips", ("a", "b", n, trips), blocks, threads)
    last, before = 0.25**trips * b, 0.25 ** (trips - 1) * b
    expected = {"a": last, "b": before} if trips % 2 else {"a": before, "b": last}
    return Case("grid_barrier.cu", {"a": np.zeros_like(b), "b": b}, (launch,), expected if n else {})


CASES: Mapping[str, Callable[..., Case]] = {
    "empty": _empty,
    "ffma": _ffma,
    "gemm": _gemm,
    "mvt": _mvt,
    "convolution-3d": _convolution_3d,
    "syrk": _syrk,
    "vector-add": _vector_add,
    "copy": _copy,
    "transpose": _transpose,
    "scalar-product": _scalar_product,
    "scan-short": _scan_short,
    "walsh": _walsh,
    "sort-short": _sort_short,
    "lud": _lud,
    **{name: _sum(name, 1) for name in ("sum_divergent", "sum_compact", "sum_sequential")},
    **{name: _sum(name, 2) for name in ("sum_while_loading", "sum_last_warp")},
    "sum_many": _sum("sum_many", 0),
    "add": _of_matrices("add", np.add),
    "add_by_columns": _of_matrices("add_by_columns", np.add),
    "product": _of_matrices("product", np.matmul),
    "product_in_tiles": _of_matrices("product_in_tiles", np.matmul),
    "histogram": _in_one_bin("histogram"),
    "histogram_of_blocks": _in_one_bin("histogram_of_blocks"),
    "read_parts": _read_parts,
    "quarter": _quarter,
    "quarter_in_trips": _quarter_in_trips,
}

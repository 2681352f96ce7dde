"""Kernels of Numba CUDA, of many kinds, compiled by numba-cuda and run without a GPU: each gives what NumPy gives."""

import math
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm.scripts.numba_cuda import ADAPTER

pytest.importorskip("numba_cuda")
pytestmark = pytest.mark.filterwarnings("ignore")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import numba
    from numba import cuda


@pytest.fixture(scope="module", autouse=True)
def adapter() -> Iterator[None]:
    with ADAPTER.installed():
        yield


rng = np.random.default_rng(19)
TILE = 8


def test_a_tiled_matrix_product():
    @cuda.jit
    def matmul(a, b, c):
        sa = cuda.shared.array((TILE, TILE), numba.float32)
        sb = cuda.shared.array((TILE, TILE), numba.float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = numba.float32(0.0)
        for tile in range(cuda.gridDim.x):
            sa[ty, tx] = a[y, tx + tile * TILE]
            sb[ty, tx] = b[ty + tile * TILE, x]
            cuda.syncthreads()
            for k in range(TILE):
                total += sa[ty, k] * sb[k, tx]
            cuda.syncthreads()
        c[y, x] = total

    a, b = rng.random((32, 32), dtype=np.float32), rng.random((32, 32), dtype=np.float32)
    c = cuda.device_array((32, 32), np.float32)
    with simtmm.recording(architecture=90) as recording:
        matmul[(4, 4), (TILE, TILE)](a, cuda.to_device(b), c)
    np.testing.assert_allclose(c.copy_to_host(), a @ b, rtol=1e-5)
    info = recording.trace.info
    assert [(each.kernel, each.grid, each.block) for each in info.launches] == [("matmul", (4, 4, 1), (TILE, TILE, 1))]
    assert {(each.name, each.dtype, each.shape) for each in info.arrays} == {
        (name, "<f4", (32, 32)) for name in ("a", "b", "c")
    }
    lines = {site.source for site in info.sites}
    assert "sa[ty, tx] = a[y, tx + tile * TILE]" in lines
    assert "c[y, x] = total" in lines
    assert {Path(site.file).absolute() for site in info.sites if site.line} == {Path(__file__)}


def test_a_reduction_with_shuffles():
    @cuda.jit
    def total(x, out):
        partial = cuda.shared.array(32, numba.int32)
        i = cuda.grid(1)
        lane, warp = cuda.laneid, cuda.threadIdx.x // 32
        value = x[i] if i < x.size else 0
        offset = 16
        while offset > 0:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
            offset //= 2
        if lane == 0:
            partial[warp] = value
        cuda.syncthreads()
        if warp == 0:
            value = partial[lane] if lane < cuda.blockDim.x // 32 else 0
            for shift in (16, 8, 4, 2, 1):
                value += cuda.shfl_xor_sync(0xFFFFFFFF, value, shift)
            if lane == 0:
                cuda.atomic.add(out, 0, value)

    x = rng.integers(-1000, 1000, 1000).astype(np.int32)
    out = np.zeros(1, np.int32)
    with simtmm.recording(architecture=80) as recording:
        total[8, 128](x, out)
    assert out[0] == x.sum()
    assert recording.launches == 1


def test_histogram_scan_stencil():
    @cuda.jit
    def histogram(x, counts):
        local = cuda.shared.array(16, numba.int32)
        if cuda.threadIdx.x < 16:
            local[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            cuda.atomic.add(local, x[i], 1)
        cuda.syncthreads()
        if cuda.threadIdx.x < 16:
            cuda.atomic.add(counts, cuda.threadIdx.x, local[cuda.threadIdx.x])

    @cuda.jit("void(float64[:], float64[::1])")
    def scan(x, out):
        room = cuda.shared.array(0, numba.float64)
        i = cuda.threadIdx.x
        room[i] = x[i]
        step = 1
        while step < cuda.blockDim.x:
            cuda.syncthreads()
            held = room[i - step] if i >= step else 0.0
            cuda.syncthreads()
            room[i] += held
            step *= 2
        out[i] = room[i]

    @cuda.jit
    def stencil(x, out):
        tile = cuda.shared.array(66, numba.float32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        if i < x.size:
            tile[t + 1] = x[i]
            if t == 0 and i > 0:
                tile[0] = x[i - 1]
            if t == 63 and i + 1 < x.size:
                tile[65] = x[i + 1]
        cuda.syncthreads()
        if 0 < i < x.size - 1:
            out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / numba.float32(3)

    x = rng.integers(0, 16, 3000).astype(np.int64)
    counts = np.zeros(16, np.int32)
    histogram[4, 64](x, counts)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=16))

    values, out = rng.random(96), np.zeros(96)
    scan[1, 96, 0, 96 * 8](values, out)
    np.testing.assert_allclose(out, np.cumsum(values))

    line, smooth = rng.random(200).astype(np.float32), np.zeros(200, np.float32)
    stencil[4, 64](line, smooth)
    np.testing.assert_allclose(smooth[1:-1], (line[:-2] + line[1:-1] + line[2:]) / 3, rtol=1e-6)


def test_reduce_of_numbas_own():
    largest = cuda.reduce(lambda a, b: a if a > b else b)
    x = rng.random(1000)
    assert largest(x, init=-1.0) == x.max()


def test_random_numbers():
    from numba.cuda.random import (
        create_xoroshiro128p_states,
        xoroshiro128p_normal_float64,
        xoroshiro128p_uniform_float32,
    )

    @cuda.jit
    def draw(states, out, normal):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = xoroshiro128p_uniform_float32(states, i)
            normal[i] = xoroshiro128p_normal_float64(states, i)

    def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
        states = create_xoroshiro128p_states(256, seed=seed)
        out, normal = np.zeros(256, np.float32), np.zeros(256)
        draw[2, 128](states, out, normal)
        return out, normal

    out, normal = drawn(7)
    assert ((out >= 0) & (out < 1)).all()
    assert len(np.unique(out)) > 250
    assert abs(out.mean() - 0.5) < 0.1
    assert abs(normal.mean()) < 0.3
    assert abs(normal.std() - 1) < 0.2
    np.testing.assert_array_equal(drawn(7)[0], out)
    assert (drawn(8)[0] != out).any()


def test_mandelbrot_with_a_device_function():
    @cuda.jit(device=True)
    def escape(c, most):
        z = 0.0j
        for i in range(most):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                return i
        return most

    @cuda.jit
    def mandelbrot(left, top, step, image):
        x, y = cuda.grid(2)
        if x < image.shape[1] and y < image.shape[0]:
            image[y, x] = escape(complex(left + x * step, top + y * step), 20)

    image = np.zeros((17, 19), np.uint8)
    mandelbrot[(3, 3), (8, 8)](-2.0, -1.0, 0.125, image)

    def wanted(c: complex) -> int:
        z = 0j
        for i in range(20):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                return i
        return 20

    expected = [[wanted(complex(-2 + x * 0.125, -1 + y * 0.125)) for x in range(19)] for y in range(17)]
    np.testing.assert_array_equal(image, expected)


def test_records_and_local_arrays():
    body = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("mass", "f8"), ("tag", "i4", (2,))], align=True)

    @cuda.jit
    def forces(bodies, out, gravity):
        i = cuda.grid(1)
        if i >= bodies.size:
            return
        acc = cuda.local.array(3, numba.float64)
        for k in range(3):
            acc[k] = 0.0
        for j in range(bodies.size):
            dx, dy, dz = bodies[j].x - bodies[i].x, bodies[j].y - bodies[i].y, bodies[j].z - bodies[i].z
            inverse = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
            scale = gravity.g * bodies[j].mass * inverse * inverse * inverse
            acc[0] += dx * scale
            acc[1] += dy * scale
            acc[2] += dz * scale
        for k in range(3):
            out[i, k] = acc[k]
        bodies[i].tag[1] = i

    bodies = np.zeros(50, body)
    for name in ("x", "y", "z", "mass"):
        bodies[name] = rng.random(50)
    gravity = np.array([(2.5,)], np.dtype([("g", "f8")]))[0]
    out = np.zeros((50, 3))
    forces[1, 64](bodies, out, gravity)
    places = np.stack([bodies[name] for name in "xyz"], 1)
    apart = (places[None] - places[:, None]).astype(np.float64)
    scale = 2.5 * bodies["mass"] / ((apart**2).sum(2) + 0.01) ** 1.5
    np.testing.assert_allclose(out, (apart * scale[..., None]).sum(1), rtol=1e-4)
    np.testing.assert_array_equal(bodies["tag"][:, 1], np.arange(50))


def test_the_grid_synchronizes():
    @cuda.jit
    def waves(x):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for row in range(1, x.shape[0]):
            x[row, i] = x[row - 1, x.shape[1] - i - 1] + 1
            grid.sync()

    x = np.zeros((5, 128), np.int32)
    x[0] = np.arange(128)
    wanted = x.copy()
    for row in range(1, 5):
        wanted[row] = wanted[row - 1, ::-1] + 1
    waves[4, 32](x)
    np.testing.assert_array_equal(x, wanted)


def test_three_dimensions_constants_and_votes():
    weights = np.array([0.25, 0.5, 0.25])

    @cuda.jit
    def volume(out):
        held = cuda.const.array_like(weights)
        x, y, z = cuda.grid(3)
        if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
            out[x, y, z] = held[x % 3] * (100 * x + 10 * y + z)

    out = np.zeros((5, 6, 7))
    volume[(2, 3, 4), (4, 2, 2)](out)
    x, y, z = np.indices(out.shape)
    np.testing.assert_allclose(out, weights[x % 3] * (100 * x + 10 * y + z))

    @cuda.jit
    def votes(x, out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.ballot_sync(0xFFFFFFFF, x[i] > 0)
        out[1, i] = cuda.all_sync(0xFFFFFFFF, x[i] > -100)
        out[2, i] = cuda.any_sync(0xFFFFFFFF, x[i] > 100)
        out[3, i] = cuda.syncthreads_count(numba.int32(x[i] > 0))
        out[4, i] = cuda.syncthreads_and(numba.int32(x[i] > 0))
        out[5, i] = cuda.syncthreads_or(numba.int32(x[i] > 0))
        out[6, i] = cuda.match_any_sync(0xFFFFFFFF, x[i] % 4)
        out[7, i] = cuda.popc(x[i]) + cuda.clz(x[i]) + cuda.ffs(x[i]) + cuda.brev(x[i])

    values = rng.integers(1, 100, 32).astype(np.uint32)
    values[5] = 0
    found = np.zeros((8, 32), np.uint32)
    votes[1, 32](values, found)
    positive = values > 0
    mask = sum(1 << lane for lane in range(32) if positive[lane])
    assert (found[0] == mask).all()
    assert [list(set(row)) for row in found[1:6]] == [[1], [0], [positive.sum()], [0], [1]]
    for lane in range(32):
        same = sum(1 << other for other in range(32) if values[other] % 4 == values[lane] % 4)
        assert found[6, lane] == same
        bits = int(values[lane])
        ffs = (bits & -bits).bit_length()
        brev = int(f"{bits:032b}"[::-1], 2)
        assert found[7, lane] == (bits.bit_count() + 32 - bits.bit_length() + ffs + brev) % 2**32


def test_complex_numbers_and_integers_that_wrap():
    @cuda.jit
    def arithmetic(z, factor, n, out):
        i = cuda.grid(1)
        if i < z.size:
            z[i] = z[i] * factor + z[i].conjugate()
            out[i] = n[i] * n[i] + numba.int32(1)

    z = (rng.random(40) + 1j * rng.random(40)).astype(np.complex64)
    n = rng.integers(2**30, 2**31 - 1, 40).astype(np.int32)
    before, out = z.copy(), np.zeros(40, np.int32)
    arithmetic[2, 32](z, np.complex64(2 - 3j), n, out)
    np.testing.assert_allclose(z, before * (2 - 3j) + before.conj(), rtol=1e-5)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, n * n + np.int32(1))


def test_mathematical_functions():
    @cuda.jit
    def functions(x, out):
        i = cuda.grid(1)
        if i < x.size:
            v = x[i]
            out[0, i] = math.sin(v) + math.cos(v) * math.tan(v)
            out[1, i] = math.exp(v) + math.log(v) + math.log2(v) + math.log10(v)
            out[2, i] = math.pow(v, 1.5) + v**3 + math.sqrt(v)
            out[3, i] = math.erf(v) + math.gamma(v + 1) + math.atan2(v, 2.0)
            out[4, i] = math.floor(v * 10) % 3 + round(v * 10) + abs(-v) + min(v, 0.5)
            out[5, i] = math.sinh(v) + math.tanh(v) + math.asin(v) + math.acos(v) + math.hypot(v, 1.0)

    for kind, tolerance in ((np.float64, 1e-12), (np.float32, 2e-5)):
        x = rng.uniform(0.05, 0.95, 64).astype(kind)
        out = np.zeros((6, 64), kind)
        functions[2, 32](x, out)
        v = x.astype(np.float64)
        wanted = [
            np.sin(v) + np.cos(v) * np.tan(v),
            np.exp(v) + np.log(v) + np.log2(v) + np.log10(v),
            v**1.5 + v**3 + np.sqrt(v),
            [math.erf(each) + math.gamma(each + 1) + math.atan2(each, 2) for each in v],
            np.floor(x * 10) % 3 + np.round(x * 10) + v + np.minimum(v, 0.5),
            np.sinh(v) + np.tanh(v) + np.arcsin(v) + np.arccos(v) + np.hypot(v, 1),
        ]
        np.testing.assert_allclose(out, wanted, rtol=tolerance)


def test_atomics_of_all_kinds():
    @cuda.jit
    def atomics(x, f, out, real, lock):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.max(out, 0, x[i])
            cuda.atomic.min(out, 1, x[i])
            cuda.atomic.or_(out, 2, x[i])
            cuda.atomic.and_(out, 3, x[i])
            cuda.atomic.xor(out, 4, x[i])
            cuda.atomic.sub(out, 5, x[i])
            cuda.atomic.inc(out, 6, numba.int32(6))
            cuda.atomic.add(real, 0, f[i])
            cuda.atomic.max(real, 1, f[i])
            if cuda.atomic.cas(lock, 0, 0, i + 1) == 0:
                cuda.atomic.exch(lock, 1, i)

    x = rng.integers(0, 2**30, 300).astype(np.uint32)
    f = rng.random(300)
    out = np.array([0, 2**32 - 1, 0, 2**32 - 1, 0, 0, 0], np.uint32)
    real, lock = np.zeros(2), np.zeros(2, np.int32)
    atomics[3, 128](x, f, out, real, lock)
    wanted = [x.max(), x.min(), np.bitwise_or.reduce(x), np.bitwise_and.reduce(x), np.bitwise_xor.reduce(x)]
    assert list(out[:5]) == wanted
    assert out[5] == (-int(x.sum(dtype=np.int64))) % 2**32
    assert out[6] == 300 % 7
    np.testing.assert_allclose(real, [f.sum(), f.max()])
    assert lock[0] == lock[1] + 1

"""python -m tests.benchmarks.beside_cpp [NAME...]: compiled kernels beside C++ of one's own, by processor time.

Six kernels are run here as PTX, unrecorded and recorded, and as a C++ function compiled with -O3 -march=native that
computes the same on one core: what a program without a GPU would be. Their results are compared.
"""

import argparse
import ctypes
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule

TURNS = 3
CUDA = r"""
extern "C" __global__ void saxpy(int n, const float* x, const float* y, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * x[i] + y[i];
}
extern "C" __global__ void sgemm(int n, const float* a, const float* b, float* out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
    out[i * n + j] = sum;
}
extern "C" __global__ void histogram(int n, const int* x, const int* unused, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[x[i] & 255], 1);
}
extern "C" __global__ void reduce(int n, const int* x, const int* unused, int* out) {
    __shared__ int sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? x[i] : 0;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) sums[t] += sums[t + half];
    }
    if (t == 0) atomicAdd(out, sums[0]);
}
extern "C" __global__ void spmv(int n, const int* columns, const float* x, float* out) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += 0.5f * x[columns[16 * row + k]];
    out[row] = sum;
}
extern "C" __global__ void bodies(int n, const float* x, const float* m, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float own = x[i], force = 0;
    for (int j = 0; j < n; ++j) {
        float d = x[j] - own, r = d * d + 0.01f;
        force += m[j] * d / (r * sqrtf(r));
    }
    out[i] = force;
}
"""
CPP = r"""
#include <cmath>
extern "C" void saxpy(int n, const float* x, const float* y, float* out) {
    for (int i = 0; i < n; ++i) out[i] = 2.0f * x[i] + y[i];
}
extern "C" void sgemm(int n, const float* a, const float* b, float* out) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) out[i * n + j] = 0;
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}
extern "C" void histogram(int n, const int* x, const int*, int* out) {
    for (int i = 0; i < n; ++i) ++out[x[i] & 255];
}
extern "C" void reduce(int n, const int* x, const int*, int* out) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    *out += sum;
}
extern "C" void spmv(int n, const int* columns, const float* x, float* out) {
    for (int row = 0; row < n; ++row) {
        float sum = 0;
        for (int k = 0; k < 16; ++k) sum += 0.5f * x[columns[16 * row + k]];
        out[row] = sum;
    }
}
extern "C" void bodies(int n, const float* x, const float* m, float* out) {
    for (int i = 0; i < n; ++i) {
        float own = x[i], force = 0;
        for (int j = 0; j < n; ++j) {
            float d = x[j] - own, r = d * d + 0.01f;
            force += m[j] * d / (r * std::sqrt(r));
        }
        out[i] = force;
    }
}
"""
TOLERANCE = 1e-4  # of sums of up to 4,096 single-precision terms, whose order differs


@dataclass(frozen=True)
class Case:
    """n: what the kernel is given first. side: threads of a block in one dimension, or in each of two.

    arrays: what it makes of n: two inputs and the output.
    """

    n: int
    side: tuple[int, ...]
    arrays: Callable[[int], Sequence[np.ndarray]]


def _floats(count: int) -> np.ndarray:
    return np.random.default_rng(0).random(count, np.float32)


def _integers(count: int, most: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, most, count, np.int32)


_NONE = np.zeros(1, np.int32)
CASES = {
    "saxpy": Case(1 << 20, (256,), lambda n: (_floats(n), _floats(n), np.zeros(n, np.float32))),
    "sgemm": Case(256, (16, 16), lambda n: (_floats(n * n), _floats(n * n), np.zeros(n * n, np.float32))),
    "histogram": Case(1 << 20, (256,), lambda n: (_integers(n, 1 << 20), _NONE, np.zeros(256, np.int32))),
    "reduce": Case(1 << 20, (256,), lambda n: (_integers(n, 1000), _NONE, np.zeros(1, np.int32))),
    "spmv": Case(1 << 16, (256,), lambda n: (_integers(16 * n, n), _floats(n), np.zeros(n, np.float32))),
    "bodies": Case(4096, (256,), lambda n: (_floats(n), _floats(n), np.zeros(n, np.float32))),
}


def taken(run: Callable[[], object], turns: int = TURNS) -> float:
    """Processor seconds of this process, the least of some turns."""
    found = []
    for _ in range(turns):
        before = time.process_time()
        run()
        found.append(time.process_time() - before)
    return min(found)


def as_ptx(name: str, case: Case, record: bool, turns: int = TURNS) -> tuple[float, np.ndarray]:
    """Seconds of the kernel, and its output after one run."""
    function = KernelFunction(LinkedModule([compile_source(CUDA, architecture=90)]), name)
    assert function.code  # compiled before
    arrays = [array.copy() for array in case.arrays(case.n)]
    device = Device()
    given = struct.pack("<i4x", case.n)
    given += b"".join(struct.pack("<Q", device.memory.place(str(k), array)) for k, array in enumerate(arrays))
    blocks = [-(-case.n // side) for side in case.side]
    grid, block = ((*sizes, *(1,) * (3 - len(sizes))) for sizes in (blocks, case.side))
    launch = DeviceLaunch(grid, block, given)

    def run() -> None:
        for _ in device.run(function, launch, record):
            pass

    run()
    once = arrays[2].copy()
    return taken(run, turns), once


def as_cpp(name: str, case: Case, library: ctypes.CDLL, turns: int = TURNS) -> tuple[float, np.ndarray]:
    """Seconds of the function, and its output after one run. A short one is run many times."""
    arrays = [array.copy() for array in case.arrays(case.n)]
    function = getattr(library, name)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    function(case.n, *pointers)
    once = arrays[2].copy()
    many = 20
    return taken(lambda: [function(case.n, *pointers) for _ in range(many)], turns) / many, once


def compiled(folder: Path) -> ctypes.CDLL:
    """The functions of C++."""
    source, library = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(CPP)
    subprocess.run(["g++", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


def main() -> None:
    """Print a row of a table for each kernel."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.beside_cpp", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a kernel; all if left out")
    asked = parser.parse_args()
    print("| kernel | C++, ms | unrecorded, ms | over C++ | recorded, ms | over unrecorded |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        for name in asked.names or CASES:
            case = CASES[name]
            plain, expected = as_cpp(name, case, library)
            unrecorded, found = as_ptx(name, case, False)
            recorded, _ = as_ptx(name, case, True)
            if not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE * np.abs(expected).max()):
                raise SystemExit(f"{name}: the kernel and the function compute different results")
            row = [1e3 * plain, 1e3 * unrecorded, unrecorded / plain, 1e3 * recorded, recorded / unrecorded]
            print(f"| {name}, n = {case.n:,} | " + " | ".join(f"{each:.3g}" for each in row) + " |", flush=True)


if __name__ == "__main__":
    main()

"""How fast compiled kernels run on the CPU, with and without a record: PTX instructions a second, on all cores.

    python -m pytest tests/benchmarks/test_ptx_rates.py -n 0 --benchmark-enable --benchmark-only

One core: begin the line with `taskset -c 0`. Asked of one core: 300 M unrecorded, 150 M with a record.
"""

import struct

import numpy as np
import pytest

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from tests.benchmarks.test_rates import rate

SOURCE = r"""
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void gather(int n, const int* place, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[place[i]];
}
extern "C" __global__ void gemm(int n, const float* a, const float* b, float* c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}
extern "C" __global__ void tiled(int n, const float* a, const float* b, float* c) {
    __shared__ float p[16][16], q[16][16];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        p[y][x] = a[i * n + t + x];
        q[y][x] = b[(t + y) * n + j];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += p[y][k] * q[k][x];
        __syncthreads();
    }
    c[i * n + j] = sum;
}
"""


class Case:
    """A kernel with its arrays, and how many threads run how many instructions each, by its PTX."""

    def __init__(self, name, size):
        random = np.random.default_rng(0)
        linked = LinkedModule([compile_source(SOURCE, architecture=90)])
        self.function = KernelFunction(linked, name)
        self.device = Device()
        if name in ("saxpy", "gather"):
            first = 2.0 if name == "saxpy" else random.permutation(size).astype(np.int32)
            x, y = random.random(size, np.float32), random.random(size, np.float32)
            grid, block = (-(-size // 256), 1, 1), (256, 1, 1)
            arrays = [first, x, y]
        else:
            arrays = [random.random((size, size), np.float32) for _ in range(3)]
            grid, block = (size // 16, size // 16, 1), (16, 16, 1)
        given = b"".join(
            struct.pack("<f", each)
            if isinstance(each, float)
            else struct.pack("<Q", self.device.memory.place(str(n), each))
            for n, each in enumerate(arrays)
        )
        front = struct.pack("<i", size)
        if not isinstance(arrays[0], float):
            front += bytes(4)  # pointers are aligned to 8
        self.launch = DeviceLaunch(grid, block, front + given)
        assert self.function.code

    def run(self, record):
        """All pieces of the log."""
        return [piece for piece, _ in self.device.run(self.function, self.launch, record)]

    def counts(self):
        """Instructions and accesses of all threads."""
        steps = [site.step for site in self.function.program.sites]
        length = [sum(1 for each in step.instructions if each.opcode) for step in steps]
        instructions = accesses = 0
        for piece in self.run(True):
            words, at = piece.view(np.int32), 0
            while at < len(words):
                site = words[at]
                if site < 0:
                    at += 4 if site == -2 else 2
                    continue
                threads = (int(words[at + 1]) & 0xFFFFFFFF).bit_count()
                instructions += threads * length[site]
                is_access = steps[site].access is not None
                accesses += threads * is_access
                at += 66 if is_access else 2
        return instructions, accesses


ACCESSES = {"saxpy": lambda n: 3 * n, "gather": lambda n: 3 * n, "gemm": lambda n: 2 * n**3 + n * n,
            "tiled": lambda n: 2 * n**3 + 4 * n**3 // 16 + n * n}  # fmt: skip


@pytest.mark.parametrize("record", [False, True], ids=["unrecorded", "recorded"])
@pytest.mark.parametrize("name", ["saxpy", "gather", "gemm", "tiled"])
def test_instructions_a_second(benchmark, name, record):
    large = benchmark.enabled
    case = Case(name, (1 << 20 if large else 1 << 10) if name in ("saxpy", "gather") else 128 if large else 32)
    instructions, accesses = case.counts()
    size = struct.unpack("<i", case.launch.parameters[:4])[0]
    assert accesses == ACCESSES[name](size)
    benchmark.pedantic(case.run, args=(record,), rounds=5 if large else 1, warmup_rounds=1)
    rate(benchmark, "PTX instructions", instructions)
    rate(benchmark, "accesses", accesses)

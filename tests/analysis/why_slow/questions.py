"""Kernels as people ask about them: what is to be said of each, and the better kernel."""

from dataclasses import dataclass

import numpy as np

from simtmm.engine import causes


@dataclass(frozen=True)
class Question:
    """A kernel, the better one, and what is to be said of it.

    grid, block: of both, but where better_grid and better_block say otherwise. line: a part of its text. factor: how
    many times the gain of the better kernel may differ from what was predicted.
    """

    file: str
    kernel: str
    better: str
    machine: str
    grid: object
    block: object
    arguments: tuple[str, ...]
    causes: tuple[str, ...]
    line: str | tuple[str, ...]
    change: str
    factor: float = 1.3  # as issue 48 asks of what is simulated
    better_grid: object = None
    better_block: object = None
    better_arguments: tuple[str, ...] | None = None


def reals(n, kind="float32"):
    return f"random:{kind}:{n}"


def zeros(n, kind="float32"):
    return f"zeros:{kind}:{n}"


MANY = 65536
LAYOUTS, THREADS, ARITHMETIC, PATTERNS = "layouts.cu", "threads.cu", "arithmetic.cu", "patterns.cu"
HABITS = "habits.cu"
ROWS = 2048
ANYWHERE = np.random.default_rng(3).permutation(1 << 18).astype(np.int32)
LENGTHS = np.where(np.arange(ROWS) % 32 == 0, 256, 8)  # of a sparse matrix's rows
BEGINS = np.append(0, np.cumsum(LENGTHS)).astype(np.int32)
ARRAYS = {
    "begins.npy": BEGINS,
    "columns.npy": np.random.default_rng(1).integers(0, ROWS, BEGINS[-1]).astype(np.int32),
    "anywhere.npy": ANYWHERE,
    "sorted.npy": np.sort(ANYWHERE),
    "floats.npy": np.sort(np.random.default_rng(5).random(1 << 18, np.float32)),
    "kinds.npy": np.random.default_rng(4).integers(0, 4, 1 << 17).astype(np.int32),
}
QUESTIONS = [
    Question(
        LAYOUTS, "array_of_structures", "structure_of_arrays", "rtx-4090", 1024, 256, (reals(2097152), "0.01"),
        (causes.L2_BANDWIDTH,), "p[i].x", "coalesce",
    ),
    Question(
        LAYOUTS, "every_32nd", "each", "rtx-4090", 1024, 256, (reals(32 * 262144), zeros(262144)),
        (causes.L2_BANDWIDTH, causes.MEMORY_BANDWIDTH), "in[32 * i]", "coalesce",
    ),
    Question(
        LAYOUTS, "rows_along_x", "columns_along_x", "rtx-3080", (32, 32), (16, 16), (reals(262144), "512"),
        (causes.L2_BANDWIDTH,), "a[row * width + col]", "coalesce",
    ),
    Question(
        LAYOUTS, "stencil_by_rows", "stencil_by_columns", "rtx-3080", (16, 16), (16, 16),
        (reals(66564), zeros(66564), "258"), (causes.L2_BANDWIDTH,), "out[y * w + x]", "coalesce", 1.5,
    ),
    Question(
        LAYOUTS, "a_thread_sums_a_row", "a_warp_sums_a_row", "v100", 64, 128, (reals(8192 * 128), zeros(8192), "128"),
        (causes.PORT_BANDWIDTH,), "s += a[row * n + k]", "coalesce", 2, better_grid=2048,
    ),
    Question(
        THREADS, "one_counter", "a_counter_for_each_block", "rtx-3080", 512, 256, (reals(131072), "zeros:int32:1"),
        (causes.ATOMICS,), "atomicAdd(count, 1)", "privatize",
    ),
    Question(
        THREADS, "branches_by_lanes", "branches_by_warps", "rtx-3080", 512, 256, (reals(131072), zeros(131072)),
        (causes.ISSUE,), "v * ", "compact",
    ),
    Question(
        THREADS, "axpy", "axpy", "rtx-4090", 16384, 16, ("2.0", reals(262144), reals(262144)),
        (causes.BLOCK_STARTS,), "y[i] = a * x[i] + y[i]", "larger blocks", 1.3, 1024, 256,
    ),
    Question(
        THREADS, "total", "total", "rtx-3080", 1, 1024, (reals(262144), zeros(1), "262144"),
        (causes.FEW_BLOCKS,), "sum += x[i]", "spread", 1.5, 68, 1024,
    ),
    Question(
        THREADS, "a_barrier_each_round", "no_barrier", "rtx-3080", 136, 1024, (reals(139264), zeros(139264), "50"),
        (causes.BARRIERS,), "__syncthreads()", "barrier",
    ),
    Question(
        THREADS, "strided_sum", "sum_of_four_blocks", "rtx-3080", 512, 512, (reals(262144), zeros(512)),
        (causes.DEPENDENCE,), ("t % (2 * d)", "__syncthreads()"), "coarsen", 1.3, 128, 512,
    ),
    Question(
        ARITHMETIC, "constants_of_doubles", "constants_of_floats", "rtx-4090", 256, 256, (reals(MANY), zeros(MANY)),
        (causes.PIPES,), "v * 0.99", "float", 1.3,
    ),
    Question(
        ARITHMETIC, "functions_of_doubles", "functions_of_floats", "rtx-4090", 256, 128, (reals(32768), zeros(32768)),
        (causes.PIPES,), "exp(-v * k)", "float", 2,
    ),
    Question(
        ARITHMETIC, "divides_by_arguments", "divides_by_constants", "rtx-3080", 256, 256,
        (f"arange:int32:{MANY}", f"zeros:int32:{MANY}", "65536", "1000"),
        (causes.PIPES, causes.ISSUE), "%", "divide", 2,
    ),
    Question(
        ARITHMETIC, "a_local_array", "a_shared_array", "rtx-3080", 512, 128,
        (f"random:uint32:{MANY}", f"zeros:uint32:{MANY}"),
        (causes.MEMORY_BANDWIDTH, causes.L2_BANDWIDTH), "counts[v % 16u]++", "local memory", 2,
    ),
    Question(
        ARITHMETIC, "too_few_registers", "enough_registers", "h100-sxm", 66, 512, (reals(33792), zeros(33792)),
        (causes.MEMORY_BANDWIDTH, causes.L2_BANDWIDTH), "v[k] * v[(k + 7) % N]", "local memory", 2,
    ),
    Question(
        ARITHMETIC, "turned_without_padding", "turned_with_padding", "h100-sxm", (32, 32), (32, 8),
        (reals(1048576), zeros(1048576), "1024"), (causes.SHARED_MEMORY,), "tile[threadIdx.x]", "pad",
    ),
    Question(
        PATTERNS, "few_bins", "few_bins_of_blocks", "rtx-3080", 68, 256,
        ("random:uint8:131072", "zeros:uint32:16", "131072"), (causes.ATOMICS,), "atomicAdd(&bins", "privatize",
    ),
    Question(
        PATTERNS, "matvec_rows", "matvec_columns", "rtx-3080", 64, 128,
        (reals(8192 * 64), reals(64), zeros(8192), "64"), (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH),
        "A[row * n + k]", "coalesce",
        better_arguments=(reals(8192 * 64), reals(64), zeros(8192), "64", "8192"),
    ),
    Question(
        PATTERNS, "filter_in_global", "filter_in_constant", "rtx-3080", (4, 64), 256,
        (reals(64 * 1056), reals(33), zeros(65536), "1024"), (causes.PORT_BANDWIDTH,), "filter[k]",
        "tile", 2,
    ),
    Question(
        PATTERNS, "particles", "particles_of_arrays", "h100-sxm", 1024, 256, (reals(8 * 262144), "0.01"),
        (causes.L2_BANDWIDTH,), "p[i].p", "coalesce",
    ),
    Question(
        PATTERNS, "csr_thread", "csr_warp", "v100", 16, 128,
        ("begins.npy", "columns.npy", reals(BEGINS[-1]), reals(ROWS), zeros(ROWS)),
        (causes.LATENCY, causes.FEW_BLOCKS), "sum += value[j] * x[column[j]]", "balance", 2.5, 512,
    ),
    Question(
        PATTERNS, "copy_bytes", "copy_vectors", "rtx-3080", 512, 256,
        ("random:uint8:2097152", "zeros:uint8:2097152", "2097152"), (causes.L2_BANDWIDTH,),
        "out[i] = in[i]", "vectorize", 1.3, better_arguments=("random:uint32:524288", "zeros:uint32:524288", "2097152"),
    ),
    Question(
        PATTERNS, "normalize_in_doubles", "normalize_in_floats", "rtx-4090", 256, 256, (reals(3 * MANY),),
        (causes.PIPES,), "1.0 / sqrt", "float",
    ),
    Question(
        PATTERNS, "one_thread", "all_threads", "v100", 1, 1, (reals(4096), reals(4096), zeros(4096), "4096"),
        (causes.LATENCY,), "c[i] = a[i] + b[i]", "spread", 2, 16, 256,
    ),
    Question(
        PATTERNS, "sum_by_shared_atomics", "sum_by_registers", "rtx-3080", 68, 256, (reals(69632), zeros(1), "69632"),
        (causes.SHARED_MEMORY,), "atomicAdd(&total, in[i])", "aggregate", 1.5,
    ),
    Question(
        HABITS, "a_piece_for_each_thread", "steps_of_the_grid", "h100-sxm", 256, 256,
        (reals(1 << 20), zeros(1 << 20), "16"), (causes.L2_BANDWIDTH,), "out[i] = 2 * in[i] + 1", "coalesce",
    ),
    Question(
        HABITS, "doubles_by_columns", "doubles_padded", "rtx-3080", 68, (32, 32),
        ("random:float64:69632", "zeros:float64:69632", "64"), (causes.SHARED_MEMORY,), "tile[x][(y + k) % 32]", "pad",
    ),
    Question(
        HABITS, "volatile_loads", "plain_loads", "rtx-4090", 512, 256, (reals(131072), zeros(131072), "64"),
        (causes.PORT_BANDWIDTH,), "s += in[i] * k", "reload", 1.1,
    ),
    Question(
        HABITS, "powers", "powers_of_floats", "rtx-4090", 256, 256, (reals(MANY), zeros(MANY), "4"), (causes.PIPES,),
        "pow(v + k, 2.5)", "float", 1.5,
    ),
    Question(
        HABITS, "one_sum", "four_sums", "h100-sxm", 132, 64, (reals(8448), zeros(8448), "2000"), (causes.DEPENDENCE,),
        "s += x", "chains", 1.1,
    ),
    Question(
        HABITS, "one_sum", "four_sums", "rtx-3080", 68, 128, (reals(8704), zeros(8704), "2000"), (causes.DEPENDENCE,),
        "s += x", "chains", 1.1,
    ),
]  # fmt: skip

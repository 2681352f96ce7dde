"""More kernels as forums have them, with what an accepted answer would say: the cause, the line, the first advice.

The answers were written down before any of these kernels ran here. At first 19 of 20 got the cause and the line, and
17 the advice. Smaller blocks are told for a tail since. MISSED says what is not as it was written.
"""

import numpy as np

from simtmm.engine import causes
from tests.analysis.why_slow.questions import reals, zeros
from tests.analysis.why_slow.strangers import BANDWIDTH, COMPUTING, Asked

FILE = "boards.cu"
_random = np.random.default_rng(31)
ARRAYS = {
    "row.npy": np.sort(_random.integers(0, 2048, 131072)).astype(np.int32),
    "col.npy": _random.integers(0, 2048, 131072).astype(np.int32),
    "kind.npy": _random.integers(0, 8, 40960 * 16).astype(np.int32),
    "which.npy": _random.permutation(67584).astype(np.int32),
}
QUESTIONS = [
    Asked("gemv_by_rows", "h100-sxm", 132, 128, (reals(16896 * 16), reals(16896), zeros(16), "16896", "16"),
          (causes.ATOMICS,), ("atomicAdd",), ("aggregate", "privatize")),
    Asked("rotate_quarter", "a10", (32, 32), (32, 32), ("random:uint8:4194304", zeros(4194304, "uint8"), "1024",
          "1024"), BANDWIDTH, ("out[y * w + x] = in[",), ("coalesce",)),
    Asked("bilateral", "rtx-3070", (8, 32), (32, 8), (reals(65536), zeros(65536), "256", "256"), COMPUTING,
          ("expf(", "weight * v"), ("fast function",)),
    Asked("convolve_channels", "l4", (16, 16), 128,
          (reals(16 * 18 * 18), reals(128 * 16 * 9), zeros(256 * 128), "16", "16"), BANDWIDTH,
          ("* weight[", "sum += image"), ("coalesce",)),
    Asked("determinants", "p100", 512, 256, (reals(9 * 131072), zeros(131072)), BANDWIDTH, ("a[",), ("coalesce",)),
    Asked("calibrate_samples", "t4", 320, 128, (reals(40960), zeros(40960), "32"), (causes.PIPES,), ("v * 0.99",),
          ("float",)),
    Asked("coo_times_vector", "a30", 512, 256,
          ("row.npy", "col.npy", reals(131072), reals(2048), zeros(2048), "131072"), (causes.ATOMICS,),
          ("atomicAdd",), ("aggregate", "privatize")),
    Asked("max_pool", "jetson-orin", (2, 16, 16), (32, 4), (reals(128 * 128 * 16), zeros(64 * 64 * 16), "128", "128",
          "16"), BANDWIDTH, ("in[((2 * y", "out[(y"), ("coalesce",)),
    Asked("sums_by_kind", "t4", 320, 128, ("kind.npy", reals(40960 * 16), zeros(40960 * 8), "16"),
          (*BANDWIDTH, causes.LATENCY), ("sums[kind",), ("local memory",)),
    Asked("parse_numbers", "rtx-2080-ti", 136, 128, ("random:int8:139264", zeros(17408), "8"),
          (causes.PIPES, causes.ISSUE), ("pow(10.0",), ("float",)),
    Asked("with_a_header", "v100", 320, 128, (reals(40960), zeros(40960), "40960", "512"), (causes.UNEVEN,),
          ("sinf(v)",), ("even out",)),
    Asked("one_block_more", "a100-80", 217, 1024, (reals(217 * 1024), zeros(217 * 1024), "2000"), (causes.TAIL,),
          ("a = a * 0.9f", "b = b * 0.8f"), ("smaller blocks",)),
    Asked("copy_by_few", "a100-80", 108, 32, (reals(1048576), zeros(1048576), "1048576"), (causes.LATENCY,),
          ("out[i] = in[i]",), ("load ahead", "larger blocks", "vectorize", "spread")),
    Asked("triad", "rtx-3070", 8192, 256, (reals(2097152), reals(2097152), zeros(2097152), "3.0"),
          (causes.MEMORY_BANDWIDTH,), ("c[i] = a[i]",), ("",)),
    Asked("attention_weights", "rtx-4070", 184, 256, (reals(184 * 256), zeros(184 * 256), "256"),
          (*BANDWIDTH, *COMPUTING, causes.LATENCY), ("score[row * n + k]",),
          ("share", "tile", "reload", "fast function")),
    Asked("moving_average", "rtx-4080", 512, 256, (reals(131072 + 64), zeros(131072), "64"), (*BANDWIDTH, causes.ISSUE),
          ("sum += x[i + k]",), ("tile", "vectorize", "registers", "reload")),
    Asked("brightest", "v100", (8, 32), (32, 8), (reals(256 * 256 * 32), zeros(65536), "256", "256", "32"), BANDWIDTH,
          ("volume[(x * ny",), ("coalesce",)),
    Asked("gelu", "a40", 1024, 256, (reals(262144), zeros(262144)), (causes.PIPES,), ("tanh(",), ("float",)),
    Asked("neurons", "rtx-3060", 112, 128, (reals(14336 * 64), zeros(14336), "64"), BANDWIDTH, ("input[n * steps",),
          ("coalesce",)),
    Asked("prices", "gh200", 264, 256, ("which.npy", "random:float32:1081344", zeros(67584)), BANDWIDTH,
          ("record[which[i]]",), ("coalesce",)),
]  # fmt: skip
MISSED = {
    "one_block_more": "instruction pipes bind, and the tail stands behind them; the advice is as written",
    "rotate_quarter": "the L1 keeps the lines that a block's warps share, and memory is what takes time",
    "determinants": "the L1 keeps the lines, and memory moves nothing in vain",
}

"""More kernels as people ask about them: of images, sequences, learning, physics and bookkeeping.

Twenty answers were written, and committed, before any of the kernels had run. The cause and the line were right in 16,
the first advice in 11. One kernel had no better one that gained, and is gone; others are larger now, so that theirs
gain. Of those in CAUSES only the cause is asked: no advice for them is known that gains more than a tenth.
"""

import numpy as np

from simtmm.engine import causes
from tests.analysis.why_slow.questions import Question, reals, zeros

APPLICATIONS, STRUCTURES = "applications.cu", "structures.cu"
SHORT_ROWS = 16384
BUCKETS = np.where(np.arange(264) % 33 == 5, 65536, 1024)
_random = np.random.default_rng(6)
ARRAYS = {
    "rows.npy": _random.integers(0, 4096, 32768).astype(np.int32),
    "dark.npy": np.where(_random.random(1 << 19) < 0.97, 0, _random.integers(0, 256, 1 << 19)).astype(np.uint8),
    "buckets.npy": np.append(0, np.cumsum(BUCKETS)).astype(np.int32),
    "evened.npy": (np.arange(265) * BUCKETS.sum() // 264).astype(np.int32),
    "ring.npy": ((np.arange(278528) + 32 * 1021) % 278528).astype(np.int32),
    "fours.npy": np.arange(0, 4 * SHORT_ROWS + 1, 4).astype(np.int32),
    "columns_of_fours.npy": _random.integers(0, SHORT_ROWS, 4 * SHORT_ROWS).astype(np.int32),
}
QUESTIONS = [
    Question(
        APPLICATIONS, "softmax_by_threads", "softmax_by_warps", "rtx-3080", 64, 128,
        (reals(8192 * 64), zeros(8192 * 64), "64"), (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH), "row * n + k",
        "coalesce", 2, better_grid=2048,
    ),
    Question(
        APPLICATIONS, "rows_by_threads", "rows_by_warps", "mi300x", 512, 64,
        ("rows.npy", reals(4096 * 32), zeros(32768 * 32), "32"),
        (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH, causes.MEMORY_BANDWIDTH), "table[number[i]", "coalesce", 2.5,
        16384, 64,  # threads 32 times as many, which hide what a loop of coalesced accesses still waits for
    ),
    Question(
        APPLICATIONS, "nearest_from_memory", "nearest_from_registers", "h100-sxm", 512, 256,
        (reals(8 * 131072), reals(8 * 32), "zeros:int32:131072", "32"), (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH),
        "points[8 * i + k]", "reload", 2,
    ),
    Question(
        APPLICATIONS, "dark_histogram", "dark_histogram_of_warps", "a100-80", 216, 256,
        ("dark.npy", "zeros:uint32:256", "524288"), (causes.SHARED_MEMORY, causes.ATOMICS),
        "atomicAdd(&own[pixels[i]]", "aggregate", 2,
    ),
    Question(
        APPLICATIONS, "hits_in_memory", "hits_of_blocks", "rx7900xtx", 192, 256, ("zeros:uint32:1", "16"),
        (causes.ATOMICS,), "atomicAdd(hits, 1)", "privatize", 2,
    ),
    Question(
        APPLICATIONS, "eights_in_shared", "eights_padded", "rx7900xtx", 768, 128,
        (reals(768 * 1024), zeros(768 * 1024)), (causes.SHARED_MEMORY,), "s[8 * t", "pad",
    ),
    Question(
        STRUCTURES, "blocks_side_by_side", "threads_side_by_side", "mi300x", 1024, 256, (reals(262144), zeros(262144)),
        (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH, causes.MEMORY_BANDWIDTH), "3 * in[i]", "coalesce",
    ),
    Question(
        STRUCTURES, "bucket_sums", "bucket_sums", "h100-sxm", 264, 128,
        ("buckets.npy", reals(int(BUCKETS.sum())), zeros(264 * 128)), (causes.UNEVEN,), "sum += in[k]", "even out", 2,
        better_arguments=("evened.npy", reals(int(BUCKETS.sum())), zeros(264 * 128)),
    ),
    Question(
        STRUCTURES, "exact_distances", "fast_distances", "a100-80", 432, 256,
        (reals(432 * 256), zeros(432 * 256), "128"), (causes.ISSUE, causes.PIPES), "1.0f / sqrtf", "fast division", 2,
    ),
    Question(
        STRUCTURES, "places_of_64_bits", "places_of_powers_of_two", "h100-sxm", 528, 256,
        (reals(8 * 135168), zeros(8 * 135168), "512", "256"), (causes.ISSUE, causes.PIPES), "i / width % height",
        "divide", 2,
    ),
    Question(
        STRUCTURES, "first_warp_loads", "all_warps_load", "rtx-3080", 136, 256,
        (reals(136 * 4 * 2048), zeros(136 * 4 * 256), "4"), (causes.BARRIERS, causes.LATENCY), "tile[k] = in[",
        "share", 2,
    ),
    Question(
        STRUCTURES, "greatest_by_exchange", "greatest_of_blocks", "rtx-3080", 256, 256,
        (reals(65536), "zeros:int32:2"), (causes.ATOMICS,), ("atomicAdd(most + 1, 1)", "atomicCAS"),
        "privatize", 2,
    ),
    Question(
        STRUCTURES, "scatter_anywhere", "threads_side_by_side", "mi300x", 1024, 256,
        ("anywhere.npy", reals(262144), zeros(262144)),
        (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH, causes.MEMORY_BANDWIDTH), "out[to[i]]", "coalesce", 2,
        better_arguments=(reals(262144), zeros(262144)),
    ),
    Question(
        STRUCTURES, "dot_in_doubles", "dot_in_floats", "l40s", 284, 256,
        (reals(16 * 72704), reals(16 * 72704), "zeros:float64:72704", "72704", "16"), (causes.PIPES,), "(double)a[",
        "float", 2,
    ),
    Question(
        STRUCTURES, "powers_of_some", "powers_of_some", "a100-80", 6400, 40, (reals(256000), zeros(256000)),
        (causes.BLOCK_STARTS, causes.ISSUE), ("s * v + 0.5f", "out[i] = s", "v = in[i]"), "larger blocks", 1.3,
        1000, 256,
    ),
]  # fmt: skip
CAUSES = [
    Question(
        APPLICATIONS, "blur_from_memory", "blur_from_shared", "a100-80", (16, 16), (32, 32),
        (reals(544 * 512), zeros(512 * 512), "512"), (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH), "in[(y + k)",
        "tile", 2,
    ),
    Question(
        STRUCTURES, "short_rows_by_warps", "short_rows_by_fours", "a100-80", 2048, 256,
        ("fours.npy", "columns_of_fours.npy", reals(4 * SHORT_ROWS), reals(SHORT_ROWS), zeros(SHORT_ROWS)),
        (causes.LATENCY, causes.ISSUE), ("value[j] * x[column[j]]", "__shfl_down_sync"), "compact", 2, 256,
    ),
    Question(
        STRUCTURES, "walk", "walk", "rtx-3080", 272, 1024, ("ring.npy", "zeros:int32:278528"),
        (causes.LATENCY, causes.L2_BANDWIDTH), "at = next[at]", "smaller blocks", 1.3, 1088, 256,
    ),
]  # fmt: skip
STEPS = "steps.cu"  # a program of many launches

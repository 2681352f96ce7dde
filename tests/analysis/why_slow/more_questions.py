"""More kernels as people ask about them: one thread that works, tiles, loops, and what core groups have room for."""

from simtmm.engine import causes
from tests.analysis.why_slow.questions import LAYOUTS, MANY, THREADS, Question, reals, zeros

SERIAL, TILES, LOOPS, LIMITS = "serial.cu", "tiles.cu", "loops.cu", "limits.cu"
SCANS, SHORT = "scans.cu", "short.cu"
QUESTIONS = [
    Question(
        SERIAL, "palette_of_constants", "palette_in_shared", "rtx-3080", 256, 256,
        ("random:uint32:65536", zeros(65536), "64"), (causes.ISSUE,), "s += palette", "constant",
    ),
    Question(
        SERIAL, "thread_0_adds_up", "warps_add_up", "a100-80", 1024, 256, (reals(262144), zeros(1024)),
        (causes.PIPES,), "s += part[k]", "share",
    ),
    Question(
        SERIAL, "grid_thread_0_adds_up", "last_block_adds_up", "rtx-3080", 2048, 256,
        (reals(524288), zeros(2048), zeros(1), "zeros:uint32:1"), (causes.UNEVEN,), "s += partial[k]", "even out",
    ),
    Question(
        SERIAL, "thread_0_loads", "all_threads_load", "a100-80", 1024, 256,
        (reals(262144), reals(4096), zeros(262144)), (causes.LATENCY,), "w[k] = weight", "share",
    ),
    Question(
        SERIAL, "dot_by_atomics", "dot_by_blocks", "rtx-3080", 512, 256,
        (reals(131072), reals(131072), zeros(1), "131072"), (causes.ATOMICS,), "atomicAdd(sum", "privatize",
    ),
    Question(
        SERIAL, "greatest_by_atomics", "greatest_by_threads", "rtx-3080", 128, 256,
        ("random:int32:131072", "zeros:int32:1", "131072"), (causes.ATOMICS,), "atomicMax(most", "privatize",
    ),
    Question(
        TILES, "turned_by_writes", "turned_in_tiles", "rtx-3080", (32, 32), (32, 8),
        (reals(1048576), zeros(1048576), "1024"), (causes.L2_BANDWIDTH,), "out[x * n + y + k]", "coalesce",
    ),
    Question(
        TILES, "bodies_in_global", "bodies_in_shared", "rtx-3080", 64, 256, (reals(65536), zeros(65536), "256"),
        (causes.LATENCY,), "b = body[k]", "tile",
    ),
    Question(
        TILES, "product_by_columns", "product_by_rows", "rtx-3080", (8, 8), (32, 32),
        (reals(65536), reals(65536), zeros(65536), "256"), (causes.SHARED_MEMORY,), "a[y][j] * b[x][j]", "pad",
    ),
    Question(
        TILES, "batch_of_structures", "batch_of_fields", "rtx-3080", 256, 256, (reals(2097152), zeros(65536), "8"),
        (causes.MEMORY_BANDWIDTH,), "in[i * fields + k].w", "coalesce",
    ),
    Question(
        TILES, "gather_anywhere", "gather_anywhere", "a100-80", 1024, 256,
        ("anywhere.npy", reals(262144), zeros(262144)), (causes.L2_BANDWIDTH,), "in[index[i]]", "coalesce",
        better_arguments=("sorted.npy", reals(262144), zeros(262144)),
    ),
    Question(
        TILES, "column_sums_by_blocks", "column_sums_by_lanes", "rtx-3080", 512, 256,
        (reals(1048576), zeros(512), "2048", "512"), (causes.L2_BANDWIDTH,), "a[row * columns + blockIdx.x]",
        "coalesce", better_grid=(16, 32),
    ),
    Question(
        TILES, "real_parts", "real_parts_apart", "rtx-3080", 2048, 256, (reals(1048576), zeros(524288)),
        (causes.MEMORY_BANDWIDTH,), "in[2 * i]", "coalesce",
    ),
    Question(
        LOOPS, "sigmoid_of_doubles", "sigmoid_of_floats", "rtx-3080", 256, 256, (reals(MANY), zeros(MANY)),
        (causes.PIPES,), "1.0 / (1.0", "float",
    ),
    Question(
        LOOPS, "ring_by_remainder", "ring_by_comparison", "rtx-3080", 256, 256,
        (reals(5000), zeros(MANY), "5000", "64"), (causes.PIPES,), "% n", "divide",
    ),
    Question(
        LOOPS, "median_in_local", "median_in_shared", "rtx-3080", 256, 128, (reals(32800), zeros(32768), "15"),
        (causes.L2_BANDWIDTH,), "v[j] =", "local memory",
    ),
    Question(
        LOOPS, "kinds_as_they_come", "kinds_sorted", "rtx-3080", 512, 256, ("kinds.npy", reals(131072), zeros(131072)),
        (causes.ISSUE,), "v = v * a + 0.25f", "compact",
    ),
    Question(
        LOOPS, "quotients", "fast_quotients", "a100-80", 256, 256, (reals(MANY), zeros(MANY), "64"), (causes.PIPES,),
        "v / (1.0f + k * v)", "fast division",
    ),
    Question(
        LOOPS, "waves", "fast_waves", "a100-80", 256, 256, (reals(MANY), zeros(MANY), "32"), (causes.PIPES,),
        "sinf(v * k)", "fast function",
    ),
    Question(
        LOOPS, "adds_to_memory", "adds_in_a_register", "rtx-3080", (1, 128), 128,
        (reals(16384), reals(16384), zeros(16384), "128"), (causes.LATENCY,), "c[row * n + col] +=", "accumulate",
    ),
    Question(
        LIMITS, "much_shared", "little_shared", "a100-80", 1024, 64, (reals(262144), zeros(262144), "262144"),
        (causes.LATENCY,), "tile[t] = in[i]", "occupancy",
    ),
    Question(
        LIMITS, "saxpy", "saxpy", "a100-80", 8192, 32, ("262144", "2.0", reals(262144), reals(262144)),
        (causes.BLOCK_STARTS,), "y[i] = a * x[i] + y[i]", "larger blocks", 1.3, 1024, 256,
    ),
    Question(
        LAYOUTS, "small_products", "small_products_interleaved", "t4", 160, 128,
        (reals(327680), reals(327680), zeros(327680)), (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH),
        ("s += a[16 * m", "c[16 * m"), "coalesce",
    ),
    Question(
        TILES, "product_in_small_tiles", "product_in_larger_tiles", "rtx-3080", (24, 24), (8, 8),
        (reals(36864), reals(36864), zeros(36864), "192"),
        (causes.LATENCY, causes.L2_BANDWIDTH, causes.PORT_BANDWIDTH), ("a[y][x] =", "b[y][x] ="), "tile",
        better_grid=(12, 12),
    ),
    Question(
        TILES, "grey_by_bytes", "grey_by_words", "t4", 1280, 256,
        ("random:uint8:983040", "zeros:uint8:327680", "327680"),
        (causes.BLOCK_STARTS,), "grey[i] =", "vectorize", 1.5, 320, 256,
        ("random:uint32:245760", "zeros:uint32:81920", "327680"),
    ),
    Question(
        SCANS, "tree_scan", "padded_scan", "t4", 160, 512, (reals(163840), zeros(163840)), (causes.SHARED_MEMORY,),
        ("temp[offset", "temp[b]", "temp[a]"), "pad",
    ),
    Question(
        THREADS, "every_eighth", "eighth_together", "rtx-3080", 1024, 256, (reals(262144), zeros(262144)),
        (causes.ISSUE,), ("v = v *", "out[i] = v"), "compact",
    ),
    Question(
        SHORT, "state_in_memory", "state_in_register", "rtx-4090", 256, 256,
        ("random:uint32:65536", zeros(65536), "32"), (causes.L2_BANDWIDTH,), "state[i] =", "accumulate",
    ),
    Question(
        SHORT, "life_by_remainders", "life_by_masks", "h100-sxm", (16, 64), (32, 8),
        ("zeros:int32:262144", "zeros:int32:262144", "512", "512"), (causes.PIPES, causes.ISSUE), "% h", "divide",
    ),
    Question(
        SHORT, "cosines", "fast_cosines", "rtx-4090", 512, 256, (reals(131072), zeros(131072)), (causes.ISSUE,),
        "cosf", "fast function",
    ),
    Question(
        SHORT, "keep_by_counter", "keep_by_blocks", "rtx-4090", 512, 256,
        (reals(131072), zeros(131072), "zeros:uint32:1", "131072"), (causes.ATOMICS,), "atomicAdd(count", "privatize",
    ),
    Question(
        SHORT, "norms_by_thread_0", "norms_by_warps", "rtx-4090", 1024, 256, (reals(262144),),
        (causes.BARRIERS, causes.DEPENDENCE, causes.SHARED_MEMORY), "s += part[k]", "share",
    ),
    Question(
        SHORT, "paths_by_columns", "paths_by_rows", "rtx-4090", (32, 32), (16, 16), (reals(262144), "512", "7"),
        (causes.L2_BANDWIDTH, causes.PORT_BANDWIDTH), ("d[i * n + j] = via", "if (via < d["), "coalesce",
    ),
]  # fmt: skip

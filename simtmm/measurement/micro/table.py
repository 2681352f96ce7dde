"""The table of micro-kernels: each launched as one block, on one multiprocessor."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from simtmm.kernel import Array
from simtmm.measurement.micro import answers
from simtmm.measurement.micro.answers import Answer
from simtmm.measurement.micro.kernel import IN, OUT, TRIPS, WARP, Limit, MicroKernel, Shape
from simtmm.measurement.micro.limits import (
    barriers,
    chase,
    conversions,
    fixed_chain,
    floor_of_chain,
    loads_from_l1,
    loads_from_l2,
    matrices,
    shared_accesses,
    updates_of_l2,
)

FOLDER = Path(__file__).parent
STEP = 0  # what pointers move by in a trip
LOADS = (12, 18)  # trips of the two launches: eight loads each
LOADERS = 512  # threads that load
STRIDES = (0, 1, 2, 3, 4, 8, 16, 31, 32)  # words from lane to lane
BLOCKS = (1, 2, 4, 8, 16, 32)  # threads in x
PITCH = 4098  # words from row to row
BUFFERS = {32: (4, 16), 64: (4, 12), 512: (1, 2)}  # KiB, and trips; the last one no L1 holds
IN_L1 = 64
SWEEPS = 512  # threads that go through a buffer
SHARED = (4, 16)
DEGREES = (1, 2, 4, 8, 16, 32)
THREADS = 512  # of a block that keeps shared memory busy
CHAINS = (4, 12)
BARRIERS = (2, 6)
WARPS = (1, 2, 4, 8, 16, 32)  # that meet at a barrier
ATOMICS = (16, 24)
MANY_ATOMICS = (40, 60)  # of those that take a cycle: the first one waits for memory
ADDERS = 256  # threads that add
VALUE = 3  # what they add
FACTOR, SUMMAND = 1664525, 1013904223  # of a chain of products: a generator of random numbers


@cache
def rows() -> tuple[MicroKernel, ...]:
    """All of it, in order; rows of one file follow one another."""
    return (*_loads(), *_sweeps(), *_shared(), *_ldmatrix(), *_chains(), *_barriers(), *_atomics())


def _loads() -> Iterator[MicroKernel]:
    shapes = [(f"l1-stride-{stride}", (LOADERS, 1), stride, 0) for stride in STRIDES]
    shapes += [(f"l1-block-{x}x{LOADERS // x}", (x, LOADERS // x), 1, PITCH) for x in BLOCKS]
    for name, block, stride, pitch in shapes:
        lanes = answers.places(block, stride, pitch).reshape(-1, 1, WARP)
        each = (lanes + np.array(answers.ELEMENTS)[:, np.newaxis]).reshape(-1, WARP)
        yield MicroKernel(
            name, "loads.cu", "loads", block, (IN, OUT, TRIPS, stride, pitch, STEP), LOADS, "a load of a warp",
            len(answers.ELEMENTS), loads_from_l1(4 * each), answers.of_loads(block, stride, pitch),
            bytes=4 * WARP,
        )  # fmt: skip


def _sweeps() -> Iterator[MicroKernel]:
    lanes = 4 * np.arange(WARP)[np.newaxis]
    for kib, trips in BUFFERS.items():
        half = kib * 1024 // 8
        yield MicroKernel(
            f"{'l1' if kib <= IN_L1 else 'l2'}-buffer-{kib}-KiB", "loads.cu", "sweeps", (SWEEPS, 1),
            (IN, OUT, TRIPS, half, STEP), trips, "a load of a warp", 2 * half // SWEEPS,
            loads_from_l1(lanes, 1.2, "a thread waits for sixteen loads together, and warps do not quite hide it")
            if kib <= IN_L1 else loads_from_l2(),
            answers.of_sweeps(SWEEPS, half), bytes=4 * WARP,
        )  # fmt: skip


def _shared() -> Iterator[MicroKernel]:
    def row(name: str, size: int, stride: int, passes: float) -> MicroKernel:
        return MicroKernel(
            name, "shared.cu", f"shared_{size}", (THREADS, 1), (IN, OUT, TRIPS, stride, STEP), SHARED,
            "a load of a warp", 8, shared_accesses(passes), answers.of_shared(THREADS, size // 4, stride),
            bytes=size * WARP,
        )  # fmt: skip

    for size in (4, 8, 16):
        yield row(f"shared-load-{size}-bytes", size, 1, size / 4)
    for degree in DEGREES:
        yield row(f"shared-conflict-{degree}", 4, degree, degree)


def _ldmatrix() -> Iterator[MicroKernel]:
    for apart, passes in ((16, 1), (64, 4)):  # bytes from row to row: of rows 64 apart every second has the same banks
        for count in (1, 2, 4):
            yield MicroKernel(
                f"ldmatrix-x{count}{'' if passes == 1 else f'-rows-{apart}-bytes-apart'}", "ldmatrix.cu",
                f"ldmatrix_x{count}", (THREADS, 1), (IN, OUT, TRIPS, apart, STEP), SHARED, "an ldmatrix of a warp", 4,
                matrices(count, passes), answers.of_ldmatrix(THREADS, count, apart), bytes=128 * count,
                capability=(7, 5),
            )  # fmt: skip


def _chains() -> Iterator[MicroKernel]:
    def row(name: str, given: tuple[int | np.generic, ...], each: int, limit: Limit, answer: Answer) -> MicroKernel:
        return MicroKernel(
            f"chain-{name}", "chains.cu", f"chain_{name}", (WARP, 1), (OUT, TRIPS, *given), CHAINS,
            "a dependent instruction", each, limit, answer,
        )  # fmt: skip

    single, double = np.float32, np.float64
    yield row("ffma", (single(0.5), single(0.25)), 16, fixed_chain("fp32"), answers.of_multiply_adds(single))
    yield row("imad", (FACTOR, SUMMAND), 16, fixed_chain("multiply"), answers.of_products(FACTOR, SUMMAND))
    yield row("dfma", (double(0.5), double(0.25)), 16, floor_of_chain("fp64"), answers.of_multiply_adds(double))
    yield row("mufu", (), 16, floor_of_chain("special"), answers.of_reciprocal_roots)
    yield row("shuffle", (), 16, floor_of_chain("shared"), answers.of_shifts)
    yield row("conversion", (), 32, conversions(), answers.of_conversions)
    yield row("lds", (), 16, chase(), answers.of_shifts)


def _barriers() -> Iterator[MicroKernel]:
    for warps in WARPS:
        reached = warps == max(WARPS)
        why = "the guide's rate counts with many warps" if reached else "few warps wait for the barrier's latency"
        yield MicroKernel(
            f"barrier-{warps}-warp{'s' * (warps > 1)}", "barriers.cu", "barriers", (warps * WARP, 1), (OUT, TRIPS),
            BARRIERS, "a barrier of a block", 8, barriers(warps, 1.4 if reached else None, why),
            answers.of_barriers(warps * WARP), by="block",
        )  # fmt: skip


def _atomics() -> Iterator[MicroKernel]:
    def row(
        memory: str, name: str, words: int, apart: int, limit: Limit, size: int, trips: Shape = ATOMICS
    ) -> MicroKernel:
        return MicroKernel(
            f"{memory}-atomics-{name}", "atomics.cu", f"{memory}_atomics", (ADDERS, 1),
            (OUT, TRIPS, words, apart, VALUE), trips, "an atomic of a warp", 4, limit,
            answers.of_atomics(ADDERS, words, apart, VALUE, size),
        )  # fmt: skip

    size = answers.SHARED_WORDS
    twice = "banks.atomic_passes: an update reads its word and writes it, which takes two passes"
    yield row("shared", "one-word", 1, 0, shared_accesses(WARP, 2.2, twice), size)
    yield row("shared", "a-word-a-lane", WARP, 1, shared_accesses(1, 2.2, twice), size)
    yield row("shared", "a-word-a-thread", ADDERS, 1, shared_accesses(1, 2.2, twice), size)
    yield row("global", "one-word", 1, 0, updates_of_l2(WARP, 1), 1)
    yield row("global", "a-word-a-lane", WARP, 1, updates_of_l2(1, 1), WARP, MANY_ATOMICS)
    yield row("global", "a-line-a-thread", ADDERS, WARP, updates_of_l2(1, WARP), ADDERS * WARP)


@cache
def given_words() -> Array:
    """What IN holds: as many words as the largest buffer and the farthest load of a block need."""
    farthest = max(int(answers.places((x, LOADERS // x), 1, PITCH).max()) for x in BLOCKS)
    count = max(max(BUFFERS) * 256, farthest + max(answers.ELEMENTS) + 1)
    return np.random.default_rng(count).integers(2**32, size=count, dtype=np.uint32)

"""Blocks and launches that differ: by how much they do, where, how often, and by what strides they go."""

import numpy as np

from simtmm.kernel import Launch, Parameter

PAPER = "made for tests of samples"
CASES = (
    "even", "triangle", "every", "half", "island", "strided", "random rows", "sorted rows", "eliminate", "shrink",
    "wavefront", "alternate", "halo", "window", "phases",
)  # fmt: skip
PARAMETERS = {
    "case": Parameter("even", "how they differ", choices=CASES),
    "n": Parameter(1 << 20, "elements of an array, or of a side of a matrix", minimum=1, maximum=1 << 26),
    "blocks": Parameter(4096, "blocks of a launch, where n does not say it", minimum=1, maximum=1 << 24),
    "turns": Parameter(64, "turns of loops", minimum=1, maximum=1 << 20),
    "launches": Parameter(1, "launches, where there are several", minimum=1, maximum=1 << 16),
}
THREADS = 128
TILE = (32, 8)
PERIOD, STRIDE = 64, 32


def inputs(p):
    zeros = np.zeros(p.n, np.float32)
    if p.case in ("random rows", "sorted rows"):
        lengths = np.minimum((np.random.default_rng(1).pareto(1.2, p.blocks * THREADS) * 2).astype(int), 4000)
        lengths = np.sort(lengths)[::-1] if p.case == "sorted rows" else lengths
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return {"first": first, "a": np.ones(first[-1] + 1, np.float32), "c": np.zeros(len(lengths), np.float32)}
    if p.case in ("eliminate", "shrink"):
        return {"a": np.ones((p.n, p.n), np.float32)}
    if p.case == "halo":
        return {"a": np.ones((p.n, p.n), np.float32), "c": np.zeros((p.n, p.n), np.float32)}
    if p.case == "window":
        return {"a": np.ones((2 * p.blocks + 16, p.n), np.float32), "c": np.zeros((p.blocks, p.n), np.float32)}
    if p.case == "phases":
        long = 33 * THREADS * p.blocks + 4096 * p.turns
        return {"a": np.ones(long, np.float32), "c": np.zeros(THREADS * p.blocks, np.float32)}
    return {"a": np.ones(p.n, np.float32), "c": zeros}


def launches(p, memory):
    blocks, n, turns = p.blocks, p.n, p.turns
    between = {"half": (blocks // 2, blocks), "even": (0, blocks), "island": (6 * blocks // 10, 65 * blocks // 100)}
    match p.case:
        case "triangle":
            yield Launch("triangle", ("a", "c", n, turns), blocks, THREADS)
        case "every":
            yield Launch("every", ("a", "c", n, PERIOD, turns), blocks, THREADS)
        case "half" | "even" | "island":
            yield Launch("computing", ("a", "c", n, *between[p.case], turns), blocks, THREADS)
        case "strided":
            yield Launch("strided", ("a", "c", n, blocks // 2, STRIDE), blocks, THREADS)
        case "random rows" | "sorted rows":
            yield Launch("rows", ("first", "a", "c", blocks * THREADS), blocks, THREADS)
        case "eliminate" | "shrink":
            for launch in range(p.launches):
                k = launch * n // p.launches
                corner = k if p.case == "shrink" else 0
                grid = tuple(-(-(n - corner) // side) for side in TILE)
                yield Launch("eliminate", ("a", n, k, corner), grid, TILE)
        case "wavefront":
            for blocks in [*range(1, p.launches + 1), *range(p.launches - 1, 0, -1)]:
                yield Launch("computing", ("a", "c", n, 0, blocks, turns), blocks, THREADS)
        case "alternate":
            for launch in range(p.launches):
                yield Launch("computing", ("a", "c", n, 0, blocks, turns if launch % 2 else 1), blocks, THREADS)
        case "halo":
            yield Launch("halo", ("a", "c", n), tuple(-(-n // side) for side in TILE), TILE)
        case "window":
            yield Launch("window", ("a", "c", n), (n // THREADS, blocks), THREADS)
        case "phases":
            yield Launch("phases", ("a", "c", turns, 8 * turns), blocks, THREADS)


def check(p, before, after):
    return None

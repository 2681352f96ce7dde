"""What micro-kernels must leave in their arrays, computed apart from the kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm.kernel import Array
from simtmm.measurement.micro.kernel import WARP, Shape

Answer = Callable[[Array, int], Array]
LINKS = 16  # of a chain in a trip
SETTLED = 200  # links after which x / 2 + 1 / 4 is 1 / 2, whatever x was
ELEMENTS = (0, 4, 8, 12, 20, 16, 24, 28)  # that a thread loads from its place
SHARED_WORDS = 1024


def places(block: Shape, stride: int, pitch: int) -> Array:
    """The word from which each thread of a block loads, in the order of threads."""
    x, y = np.meshgrid(np.arange(block[0]), np.arange(block[1]))
    return (x % 64 * stride + y % 32 * pitch).reshape(-1)


def of_loads(block: Shape, stride: int, pitch: int) -> Answer:
    """Sums of eight words."""
    each = places(block, stride, pitch)[:, np.newaxis] + np.array(ELEMENTS)
    return lambda given, trips: _times(given[each].sum(axis=1, dtype=np.uint32), trips)


def of_sweeps(threads: int, half: int) -> Answer:
    """Sums of a thread's words of both halves."""
    return lambda given, trips: _times(given[: 2 * half].reshape(-1, threads).sum(axis=0, dtype=np.uint32), trips)


def of_shared(threads: int, words: int, stride: int) -> Answer:
    """Sums of eight elements of so many words, a lane's `stride` elements from the next lane's."""
    first = np.arange(threads) % WARP * stride * words
    each = first[:, np.newaxis] + np.arange(8 * words)
    return lambda given, trips: _times(given[each].sum(axis=1, dtype=np.uint32), trips)


def of_ldmatrix(threads: int, matrices: int, apart: int) -> Answer:
    """Sums of a lane's words of so many matrices, loaded four times, each 16 bytes on. apart: bytes from row to row."""
    lane = np.arange(threads) % WARP
    rows = lane[:, np.newaxis] // 4 + 8 * np.arange(matrices)
    first = rows * (apart // 4) + lane[:, np.newaxis] % 4
    each = (first[..., np.newaxis] + 4 * np.arange(4)).reshape(threads, -1)
    return lambda given, trips: _times(given[each].sum(axis=1, dtype=np.uint32), trips)


def of_multiply_adds(kind: type[np.floating[Any]]) -> Answer:
    """x / 2 + 1 / 4 again and again, which rounds once as a fused one does: halving is exact."""

    def answer(given: Array, trips: int) -> Array:
        x = np.arange(WARP).astype(kind)
        for _ in range(min(LINKS * trips, SETTLED)):
            x = x / 2 + x.dtype.type(0.25)
        return x

    return answer


def of_products(factor: int, summand: int) -> Answer:
    """x * factor + summand again and again, modulo 2^32."""

    def answer(given: Array, trips: int) -> Array:
        power, sum_of_powers, doubled, links = 1, 0, (factor, 1), LINKS * trips
        while links:  # of a link taken 1, 2, 4, ... times: its factor, and how often it adds the summand
            scale, added = doubled
            if links & 1:
                power, sum_of_powers = power * scale % 2**32, (sum_of_powers * scale + added) % 2**32
            doubled, links = (scale * scale % 2**32, (added * scale + added) % 2**32), links >> 1
        lanes = np.arange(WARP, dtype=np.uint64) * np.uint64(power) + np.uint64(sum_of_powers * summand % 2**32)
        return lanes.astype(np.uint32)

    return answer


def of_reciprocal_roots(given: Array, trips: int) -> Array:
    """What the reciprocal of a root, taken often, tends to."""
    return np.ones(WARP, np.float32)


def of_shifts(given: Array, trips: int) -> Array:
    """Each lane's number, or place, so many lanes on."""
    return ((np.arange(WARP) + LINKS * trips) % WARP).astype(np.uint32)


def of_conversions(given: Array, trips: int) -> Array:
    """What is left of x + 1 / 2 as an integer."""
    return np.arange(WARP, dtype=np.float32)


def of_barriers(threads: int) -> Answer:
    """The trips, from each thread."""
    return lambda given, trips: np.full(threads, trips, np.uint32)


def of_atomics(threads: int, words: int, apart: int, value: int, size: int = SHARED_WORDS) -> Answer:
    """Sums of what threads have added, four times a trip, in an array of `size` words."""

    def answer(given: Array, trips: int) -> Array:
        found = np.bincount(np.arange(threads) % words * apart, minlength=size).astype(np.uint32)
        return _times(found, 4 * trips * value)

    return answer


def _times(words: Array, factor: int) -> Array:
    return words * np.uint32(factor % 2**32)

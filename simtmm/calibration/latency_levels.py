"""The levels of a memory, found in the curve of a pointer chase: latency over the size of the buffer.

On a log-log scale the curve is cut at change points into pieces of constant latency, as many as pay for themselves. The
pieces that are wide enough are plateaus; what lies between is the climb from one to the next. Plateaus that differ
little are one level.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simtmm.calibration.csv_rows import positive_number, read_rows
from simtmm.errors import StudyError

Numbers = npt.NDArray[np.float64]

LEAST_WIDTH = 1.25  # last size over first size of a plateau; climbs are cut into shorter pieces
SAME_LEVEL = 1.12  # plateaus whose latencies differ by less are one level: tables and refresh, not another memory
LEAST_STEP = 0.03  # of a latency: what a cut must explain over a whole octave to pay for itself
CLIMBING = 1.02  # a point that lies so much above its level is no longer within its capacity


@dataclass(frozen=True)
class LatencyCurve:
    """A pointer chase. sizes: bytes of the buffer, ascending. latencies: cycles. clock_hz: the core clock, or None."""

    sizes: Numbers
    latencies: Numbers
    clock_hz: float | None = None


@dataclass(frozen=True)
class Level:
    """A level. latency: cycles, the median over its plateaus. first, last: bytes, buffers of which size it serves.
    spread: how far the points lie apart, largest over smallest latency less 1. points: of the curve.
    """

    latency: float
    first: float
    last: float
    spread: float
    points: int


def load_latency(path: str | Path, gpu: str | None = None) -> LatencyCurve:
    """A GPU's curve from a CSV file with the columns buffer_kib, median_cycles (or mean_cycles) and, if there,
    clock_mhz and gpu. Raises StudyError.

    gpu: as the column gpu has it; the only one of the file if left out.
    """
    rows = read_rows(path, gpu, ("buffer_kib",))
    column = "median_cycles" if "median_cycles" in rows[0] else "mean_cycles"
    if column not in rows[0]:
        raise StudyError(f"{path}: has no column 'median_cycles' or 'mean_cycles'")
    pairs = sorted((positive_number(path, row, "buffer_kib"), positive_number(path, row, column)) for row in rows)
    clock = positive_number(path, rows[0], "clock_mhz") * 1e6 if rows[0].get("clock_mhz") else None
    sizes, latencies = np.array(pairs).T
    return LatencyCurve(sizes * 1024, latencies, clock)


def find_levels(curve: LatencyCurve) -> tuple[Level, ...]:
    """The levels from the nearest to the farthest. Raises StudyError where the curve has no plateau."""
    pieces = [piece for piece in _pieces(curve) if curve.sizes[piece[-1]] >= LEAST_WIDTH * curve.sizes[piece[0]]]
    levels: list[list[int]] = []
    for piece in pieces:
        before = float(np.median(curve.latencies[levels[-1]])) if levels else 0.0
        latency = float(np.median(curve.latencies[piece]))
        if levels and max(latency, before) < SAME_LEVEL * min(latency, before):
            levels[-1] += piece
        else:
            levels.append(list(piece))
    if not levels:
        raise StudyError("the latency curve has no plateau, so it shows no cache level")
    return tuple(_level(curve, points) for points in levels)


def _level(curve: LatencyCurve, points: Sequence[int]) -> Level:
    latencies = curve.latencies[points]
    latency = float(np.median(latencies))
    within = [point for point in points if curve.latencies[point] <= CLIMBING * latency]
    return Level(
        latency,
        float(curve.sizes[points[0]]),
        float(curve.sizes[within[-1]]),
        float(latencies.max() / latencies.min() - 1),
        len(points),
    )


def _pieces(curve: LatencyCurve) -> list[list[int]]:
    """The best cut into pieces of constant log latency: least squares, and a price for each piece.

    Each point weighs as much as it covers of the log of the size, so that the spacing of the sizes does not matter.
    """
    where, what = np.log2(curve.sizes), np.log(curve.latencies)
    weights = np.gradient(where) if len(where) > 1 else np.ones(1)
    sums = [np.concatenate([[0.0], np.cumsum(weights * what**power)]) for power in range(3)]
    price = LEAST_STEP**2
    best = np.zeros(len(where) + 1)
    cut = np.zeros(len(where) + 1, dtype=np.int64)
    for end in range(1, len(where) + 1):
        begin = np.arange(end)
        weight, first, second = (total[end] - total[begin] for total in sums)
        # Points of one size in a row weigh nothing
        of_mean = np.divide(first**2, weight, out=np.zeros_like(weight), where=weight > 0)
        cost = best[begin] + np.maximum(second - of_mean, 0) + price
        cut[end] = int(np.argmin(cost))
        best[end] = cost[cut[end]]
    pieces: list[list[int]] = []
    end = len(where)
    while end > 0:
        pieces.insert(0, list(range(int(cut[end]), end)))
        end = int(cut[end])
    return pieces


def capacity_in_sets(level: Level, chunk_bytes: int, ways: int) -> int:
    """Sets of a cache of that many ways that holds what the level serves; a curve does not tell ways from sets."""
    return max(1, math.floor(level.last / (chunk_bytes * ways) + 0.5))

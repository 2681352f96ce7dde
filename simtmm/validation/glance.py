"""All tables at a glance: how far off on what kind of kernel, what was fitted apart from what was predicted, and how
often the faster of two versions is called so.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured

FITTED, CALIBRATED, RELATIVES = "fitted", "predicted", "predicted from relatives"
STREAMS, BENCHMARKS, SHARED, CACHES = "streaming", "whole benchmarks", "shared memory, barriers", "L2 and caches"
LAUNCHES, ARITHMETIC, PAPERS = "launches, barriers of a grid", "arithmetic", "the papers' programs (2008 to 2013)"
SENT = "kernels that users sent"

# Of each table beside measured times or bandwidths: on what kind of kernel, and what its machine was made from: FITTED
# where its points, or others of its curves, decided values of that machine; CALIBRATED where other kernels on that GPU
# did; RELATIVES where other GPUs did, with at most a pointer chase and one bandwidth of this one.
KINDS = {
    **{f"stream-{name}": (STREAMS, FITTED) for name in ("v100", "a100-80", "mi210", "a40", "gh200", "mi300a")},
    **{
        f"stream-left-out-{name}": (STREAMS, RELATIVES)
        for name in ("v100", "a100-80", "mi210", "a40", "gh200", "mi300a")
    },
    "h100-sxm-streams": (STREAMS, RELATIVES),
    "h100-gemm": (BENCHMARKS, FITTED),
    "h100-mvt": (BENCHMARKS, FITTED),
    "h100-vector-add": (STREAMS, FITTED),
    "h100-polybench-compiled": (BENCHMARKS, CALIBRATED),
    "h100-sdk-compiled": (BENCHMARKS, CALIBRATED),
    "h100-more-compiled": (BENCHMARKS, CALIBRATED),
    "h100-sxm-polybench": (BENCHMARKS, CALIBRATED),
    "h100-sxm-sdk": (BENCHMARKS, CALIBRATED),
    "h100-sxm-tiles": (BENCHMARKS, CALIBRATED),
    "h100-sxm-histogram": (SHARED, CALIBRATED),
    "ladder-fitted": (SHARED, FITTED),
    "ladder": (BENCHMARKS, RELATIVES),
    "l2-bandwidth-fitted": (CACHES, FITTED),
    "l2-bandwidth": (CACHES, CALIBRATED),
    "small-kernels-fitted": (LAUNCHES, FITTED),
    "small-blocks-fitted": (LAUNCHES, FITTED),
    "small-blocks": (LAUNCHES, CALIBRATED),
    "small-kernels": (LAUNCHES, CALIBRATED),
    "graphs-fitted": (LAUNCHES, FITTED),
    "graphs": (LAUNCHES, CALIBRATED),
    "grid-barriers-fitted": (LAUNCHES, FITTED),
    "grid-barriers": (LAUNCHES, CALIBRATED),
    "h100-empty-calibration": (LAUNCHES, FITTED),
    "h100-empty": (LAUNCHES, CALIBRATED),
    "h100-sxm-empty": (LAUNCHES, FITTED),
    "h100-ffma-calibration": (ARITHMETIC, FITTED),
    "h100-ffma": (ARITHMETIC, CALIBRATED),
    "h100-sxm-ffma": (ARITHMETIC, CALIBRATED),
    "gtx280-local-ranking": (PAPERS, FITTED),
    "gtx280-phases": (PAPERS, CALIBRATED),
    "gtx480-apsp-measured": (PAPERS, CALIBRATED),
    "contributed-seconds": (SENT, CALIBRATED),
}  # fmt: skip
# Tables beside measured values that are not times of their own: the same points once more, or counts
LEFT_OUT = {"ablation-kernels", "ablation-streams", "gtx280-local-ranking-per-element", "rtx2080ti-convolution",
            "rtx2080ti-convolution-otherwise",
            *(f"contributed-{name}" for name in ("instructions", "requests", "lines", "bank-conflicts", "bytes-read",
                                                 "l2-hit-rate-of-loads", "occupancy"))}  # fmt: skip
# Tables in which the same work is done in several ways, by the block, the blocks of a multiprocessor or the algorithm
COMPARED = {"h100-gemm", "h100-mvt", "h100-polybench-compiled", "h100-sxm-polybench", "h100-sxm-tiles",
            "h100-sxm-histogram", "ladder", "ladder-fitted", "h100-sxm-streams",
            *(name for name in KINDS if name.startswith("stream-"))}  # fmt: skip
CHOSEN = re.compile(r"\d+ x \d+ threads|blocks of [\d x]+ threads|(side|threads|blocks) = \d+")  # in a case's words
APART = (0.02, 0.05, 0.10, 0.20)  # by how much the two versions differ


@dataclass(frozen=True)
class Row:
    """How far off a kind of kernel is, by what was known of its machine.

    machines: their names. points: how many. mean, median: of |simulated / measured - 1|. worst: the largest, signed.
    best: the model whose mean error over those points that it has is least, with that error; None without one.
    """

    kind: str
    decided: str
    machines: tuple[str, ...]
    points: int
    mean: float
    median: float
    worst: float
    best: tuple[str, float] | None


@dataclass(frozen=True)
class Decisions:
    """Of pairs of versions at least so far apart, how many there are, and how many are put in the right order."""

    apart: float
    decided: str
    pairs: int
    right: int


def glance(tables: Iterable[Accuracy]) -> list[Row]:
    """A row for each kind of kernel and what was known, in the order of KINDS; tables of no kind are left out.

    tables: of reproductions.
    """
    found: dict[tuple[str, str], list[Accuracy]] = defaultdict(list)
    for table in tables:
        if table.name in KINDS and table.reference == "measured":
            found[KINDS[table.name]].append(table)
    order = list(dict.fromkeys(kind for kind, _ in KINDS.values()))
    return [
        _row(kind, decided, found[kind, decided])
        for kind in order
        for decided in (FITTED, CALIBRATED, RELATIVES)
        if (kind, decided) in found
    ]


def _row(kind: str, decided: str, tables: Sequence[Accuracy]) -> Row:
    points = [point for table in tables for point in table.points]
    off = _off(points, SIMULATED)
    machines = tuple(dict.fromkeys(name for table in tables for name in table.machine.split(", ")))
    models = {name: _off(points, name) for table in tables for name in table.series if name != SIMULATED}
    whole = {name: float(np.abs(each).mean()) for name, each in models.items() if len(each) == len(off)}
    best = min(whole.items(), key=lambda entry: entry[1], default=None)
    return Row(
        kind,
        decided,
        machines,
        len(off),
        float(np.abs(off).mean()),
        float(np.median(np.abs(off))),
        float(off[int(np.abs(off).argmax())]),
        best,
    )


def _off(points: Iterable[Measured], series: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array([point.said[series] / point.measured - 1 for point in points if series in point.said])


def decisions(tables: Iterable[Accuracy]) -> list[Decisions]:
    """How often the better of two versions of the same work is called better, by how far apart they are.

    Versions are points of one table that differ in the block, in the blocks of a multiprocessor, or in the algorithm.
    Two that are simulated alike are no right call.

    tables: of reproductions.
    """
    chosen = [table for table in tables if table.name in COMPARED and table.reference == "measured"]
    rows = []
    for decided in (FITTED, CALIBRATED, RELATIVES):
        pairs = [pair for table in chosen if KINDS[table.name][1] == decided for pair in _pairs(table)]
        for apart in APART:
            far = [right for difference, right in pairs if difference > apart]
            rows.append(Decisions(apart, decided, len(far), sum(far)))
    return [row for row in rows if row.pairs]


def _pairs(table: Accuracy) -> Iterator[tuple[float, bool]]:
    """Of each pair of versions how far apart they are, and whether the simulation puts them in the right order."""
    alike: dict[str, list[Measured]] = defaultdict(list)
    for point in table.points:
        if SIMULATED in point.said:
            alike[work_of(point)].append(point)
    for versions in alike.values():
        for one, other in combinations(versions, 2):
            low, high = sorted((one.measured, other.measured))
            simulated = one.said[SIMULATED] - other.said[SIMULATED]
            yield high / low - 1, simulated * (one.measured - other.measured) > 0


def work_of(point: Measured) -> str:
    """What a point does, in the words of its case without what is chosen: the block, or which version it is."""
    parts = [part for part in point.case.split(", ") if not CHOSEN.fullmatch(part)]
    if parts and parts[0] == point.group:  # sum_divergent and sum_compact are versions of a sum
        parts[0] = parts[0].partition("_")[0]
    return ", ".join(parts)

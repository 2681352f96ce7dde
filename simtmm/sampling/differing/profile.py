"""What the blocks of a launch do along it, from all of them or from probes: how much, and of what kind.

A launch is looked at in cells of blocks that follow one another. Where all that cells differ by may be chance, there is
nothing to know, and a sample's own spread tells what chance does. Else cells are of kinds, by what they do at which
place of the program, and have more or less work.
"""

import math
from dataclasses import dataclass

import numpy as np

from simtmm.sampling.differing.signature import Floats, Integers, Signatures, widened

MOST_CELLS = 1024
IN_CELL = 8  # probes of a cell, at least
WAVES_OF_CELL = 4  # where all blocks are there; what a few waves have in common, as these run at the same time
APART = 0.1  # of what two kinds do, that they do at different places
CHANCE = 0.001  # how often cells that are alike are taken to differ
SHUFFLES = round(1 / CHANCE) - 1  # of probes among cells: if cells differ more than after any, it is not by chance
FLAT = 0.005  # by which work of cells may differ, as a part of it, and be taken to be equal


@dataclass(frozen=True)
class Profile:
    """What is known of a launch's blocks.

    bounds: int64[cells + 1], blocks. work, error: float64[cells], that of a block on average, and its standard error; 0
    where all blocks of the cell were seen. kind: int64[cells], of `kinds`. kinds: float64[kinds, places], parts that
    add up to 1. seen: blocks that were looked at.
    """

    bounds: Integers
    work: Floats
    error: Floats
    kind: Integers
    kinds: Floats
    seen: int

    @property
    def is_even(self) -> bool:
        """Whether cells differ by no more than chance explains."""
        return float(np.ptp(self.kind)) == float(np.ptp(self.work)) == 0

    def kinds_of(self, places: Floats) -> tuple[Integers, Floats]:
        """int64[n], float64[n]: the kind that each row of events by place is nearest to, and how far from it."""
        width = max(places.shape[1], self.kinds.shape[1])
        rows, kinds = _parts(widened(places, width)), widened(self.kinds, width)
        apart = np.abs(rows[:, None] - kinds[None]).sum(axis=2) / 2
        return apart.argmin(axis=1), apart.min(axis=1)

    def within(self, first: int, last: int) -> Floats:
        """float64[cells]: how many of the blocks from the first up to the last are in each cell."""
        low, high = np.maximum(first, self.bounds[:-1]), np.minimum(last, self.bounds[1:])
        return np.asarray(np.maximum(0, high - low), float)

    def segments(self) -> list[tuple[int, int, int]]:
        """Cells that follow one another and are of a kind: the first block, that behind the last, and the kind."""
        cuts = np.flatnonzero(np.diff(self.kind)) + 1
        first, last = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(self.kind)]])
        return [(int(self.bounds[a]), int(self.bounds[b]), int(self.kind[a])) for a, b in zip(first, last, strict=True)]


class Look:
    """A profile as blocks are looked at."""

    def __init__(self, count: int, blocks: int, wave: int) -> None:
        """count: blocks that will be looked at, spread over all of a launch, or all. blocks: of it. wave: blocks that
        run at once.
        """
        self._is_whole = count == blocks
        cells = max(1, min(MOST_CELLS, blocks // (WAVES_OF_CELL * wave) if self._is_whole else count // IN_CELL))
        self._bounds = np.arange(cells + 1) * blocks // cells
        self._count, self._work, self._squares = np.zeros(cells), np.zeros(cells), np.zeros(cells)
        self._places = np.zeros((2, cells, 0))  # of every other block each
        self._added = 0
        self._probes: list[tuple[Integers, Floats]] = []  # the cell of each, and its events by place

    def add(self, part: Signatures) -> None:
        """Look at blocks."""
        cell = np.searchsorted(self._bounds, part.block, "right") - 1
        self._count += np.bincount(cell, minlength=len(self._count))
        self._work += np.bincount(cell, part.work, len(self._count))
        self._squares += np.bincount(cell, part.work**2, len(self._count))
        self._places = np.pad(self._places, ((0, 0), (0, 0), (0, part.places.shape[1] - self._places.shape[2])))
        np.add.at(self._places, ((self._added + np.arange(len(cell))) % 2, cell), part.places)
        if not self._is_whole:
            self._probes.append((cell, part.places))
        self._added += len(cell)

    def profile(self) -> Profile:
        """What was seen."""
        apart = APART if self._is_whole else max(APART, 2 * self._by_chance())
        places = self._places.sum(axis=0)
        kind, kinds = clustered(places, apart)
        kind = _without_single(kind, places, kinds)
        if len(kinds) > 1 and not self._is_whole and self._may_be_chance():
            kind, kinds = clustered(places, math.inf)
        count = np.maximum(1, self._count)
        work, error = self._work / count, np.zeros(len(kind))
        if not self._is_whole:
            error = np.sqrt(np.maximum(0, self._squares / count - work**2) / np.maximum(1, self._count - 1))
        if _is_flat(work, error, self._added, self._is_whole):
            work = np.full(len(kind), float((work * np.diff(self._bounds)).sum()) / self._bounds[-1])
        return Profile(self._bounds, work, error, kind, kinds, self._added)

    def _may_be_chance(self) -> bool:
        """Whether probes that are shuffled among the cells may make these differ as much: by a permutation test.

        Source: Anderson, A new method for non-parametric multivariate analysis of variance (2001).
        """
        cell = np.concatenate([cell for cell, _ in self._probes])
        rows = _parts(np.concatenate([widened(places, self._places.shape[2]) for _, places in self._probes]))
        rows -= rows.mean(axis=0)
        order, count = np.argsort(cell, kind="stable"), np.bincount(cell)
        begins, count = np.cumsum(count)[count > 0] - count[count > 0], count[count > 0, None]

        def between(shuffled: Floats) -> float:
            """How far the means of cells are from that of all, squared: the rest of the whole sum is within cells."""
            return float((np.add.reduceat(shuffled, begins) ** 2 / count).sum())

        random, here = np.random.default_rng(0), between(rows[order])
        return any(between(random.permutation(rows)) >= here for _ in range(SHUFFLES))

    def _by_chance(self) -> float:
        """How far the halves of cells are apart, on average: what chance makes cells differ by."""
        first, second = _parts(self._places[0]), _parts(self._places[1])
        return float(np.abs(first - second).sum(axis=1).mean() / 2)


def probes(blocks: int, most: int, random: np.random.Generator) -> Integers:
    """int64[...]: blocks spread over a launch, one drawn from each equal part; no period of it can hide from them."""
    if blocks <= most:
        return np.arange(blocks, dtype=np.int64)
    bounds = np.arange(most + 1) * blocks // most
    return np.asarray(random.integers(bounds[:-1], bounds[1:]), np.int64)


def _without_single(kind: Integers, places: Floats, kinds: Floats) -> Integers:
    """A cell between others of which no kind is its own, as where two kinds meet, is of the nearer of theirs."""
    made, rows = kind.copy(), _parts(places)
    for at in np.flatnonzero(np.bincount(kind)[kind] == 1).tolist():
        beside = [int(kind[other]) for other in (at - 1, at + 1) if 0 <= other < len(kind)]
        made[at] = min(beside, key=lambda own: float(np.abs(kinds[own] - rows[at]).sum()), default=int(kind[at]))
    return made


def _is_flat(work: Floats, error: Floats, count: int, is_whole: bool) -> bool:
    """Whether the differences in the work of cells may be chance, or are too small to matter."""
    from scipy.special import fdtri  # slow to load

    mean = float(work.mean())
    if float(np.abs(work - mean).max(initial=0.0)) <= FLAT * mean:  # as of one cell
        return True
    within = float((error**2).mean())
    if is_whole or within == 0:
        return False
    freedom = max(1, count - len(work))
    return float(work.var(ddof=1)) / within < float(fdtri(len(work) - 1, freedom, 1 - CHANCE))


def clustered(places: Floats, apart: float) -> tuple[Integers, Floats]:
    """Rows of events by place in clusters, by the parts of each row: each with the first that is no further than that.

    apart: half of the sum of what two rows' parts differ by. Gives the cluster of each, and the means of clusters.
    """
    rows = _parts(places)
    leaders: list[int] = []
    kind = np.zeros(len(rows), np.int64)
    for number in range(len(rows)):
        distances = np.abs(rows[leaders] - rows[number]).sum(axis=1) / 2
        if not leaders or distances.min() > apart:
            leaders.append(number)
            kind[number] = len(leaders) - 1
        else:
            kind[number] = int(distances.argmin())
    return kind, np.array([rows[kind == each].mean(axis=0) for each in range(len(leaders))])


def _parts(table: Floats) -> Floats:
    """Rows as parts of their sums."""
    return np.asarray(table / np.maximum(1e-300, table.sum(axis=1, keepdims=True)))

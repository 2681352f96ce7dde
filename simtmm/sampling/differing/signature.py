"""What blocks do, as numbers by which they can be distinguished: how much, and what of it at which place.

A place is an event of the program, of one line and class, and how far apart the addresses of neighbouring threads are
there, within a factor of 1.4: blocks that run the same lines as often but go by other strides differ.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simtmm.trace.io import Trace
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.thread_counts import work_of_blocks

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

IRREGULAR = 1 << 10  # in the place of a stride, where threads go by no common one
MOST_PLACES = 4096  # that are told apart; what comes later is told apart by how much it is alone


@dataclass(frozen=True)
class Signatures:
    """What some blocks of a launch do.

    block: int64[n], ascending. work: float64[n], operations of all threads of each. places:
    float64[n, places], events of each at each place; the columns are those of the `Places` they were made with.
    """

    block: Integers
    work: Floats
    places: Floats


@dataclass
class Places:
    """The places that were seen so far, each with its column."""

    columns: dict[tuple[int, int], int] = field(default_factory=dict)

    def column(self, site: int, stride: int) -> int:
        """That of a place; -1 where there are too many."""
        if len(self.columns) >= MOST_PLACES and (site, stride) not in self.columns:
            return -1
        return self.columns.setdefault((site, stride), len(self.columns))


def signatures(trace: Trace, places: Mapping[int, Places]) -> Iterator[tuple[int, Signatures]]:
    """Those of all blocks of some launches that a trace holds, in parts, with the launch of each.

    places: of each launch that is looked at; takes up those that are new.
    """
    for runs in trace.runs():
        if runs.launch in places and len(runs.block):
            yield runs.launch, _of_runs(trace, runs, places[runs.launch])


def joined(parts: Iterable[Signatures]) -> Signatures:
    """Those of several parts together, ascending by block."""
    found = [Signatures(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))), *parts]
    width = max(part.places.shape[1] for part in found)
    block = np.concatenate([part.block for part in found])
    order = np.argsort(block, kind="stable")
    table = np.concatenate([widened(part.places, width) for part in found])
    return Signatures(block[order], np.concatenate([part.work for part in found])[order], table[order])


def widened(table: Floats, width: int) -> Floats:
    """A table with so many columns, those that it lacks being zeros."""
    return np.pad(table, ((0, 0), (0, max(0, width - table.shape[1]))))


def _of_runs(trace: Trace, runs: Runs, places: Places) -> Signatures:
    work = work_of_blocks(trace, runs)
    plain = np.flatnonzero(runs.structure == at.PLAIN)
    rows = _plain_rows(runs, plain, places)
    of_structures = _structure_rows(runs, places)
    table = np.zeros((len(runs.block), len(places.columns)))
    regular = np.flatnonzero(runs.structure != at.PLAIN)
    table[regular, : of_structures.shape[1]] = of_structures[runs.structure[regular]]
    table[plain, : rows.shape[1]] = rows
    return Signatures(runs.block.astype(np.int64), work, table)


def _structure_rows(runs: Runs, places: Places) -> Floats:
    """float64[structures, places]: of a block of each structure."""
    structures = runs.structures
    steps = structures.step
    ends = structures.structure[:, at.Structure.steps]
    if not len(steps):
        return np.zeros((len(ends), len(places.columns)))
    nodes = structures.structure[:, at.Structure.nodes]
    node_begins = np.concatenate([[0], nodes[:-1]])
    times = np.zeros(len(steps))
    begins = np.concatenate([[0], ends[:-1]])
    for structure, (first, last) in enumerate(zip(node_begins, nodes, strict=True)):
        own = structures.node[first:last]
        lengths = np.diff(own[:, at.Node.steps], prepend=0)
        times[begins[structure] : ends[structure]] = np.repeat(own[:, at.Node.threads], lengths)
    is_loop = steps[:, at.Step.what] == at.LOOP
    for row in np.flatnonzero(is_loop):
        times[row + 1 : row + 1 + steps[row, at.Step.y]] *= steps[row, at.Step.x]
    stride = np.where(steps[:, at.Step.form] == at.EVEN, _octaves(steps[:, at.Step.x]), IRREGULAR)
    site = steps[:, at.Step.what] & at.SITE_MASK
    keys, number = np.unique(np.stack([site, stride], axis=1)[~is_loop], axis=0, return_inverse=True)
    column = np.array([places.column(site, by) for site, by in keys.tolist()], np.int64)[number.reshape(-1)]
    structure_of = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))[~is_loop]
    table = np.zeros((len(ends), len(places.columns)))
    kept = column >= 0
    np.add.at(table, (structure_of[kept], column[kept]), times[~is_loop][kept])
    return table


def _octaves(strides: Integers) -> Integers:
    """0 for none; else by the number of doublings that a stride is nearest to, negative for negative ones."""
    size = np.abs(strides.astype(float))
    return np.asarray(np.sign(strides) * (1 + np.rint(np.log2(np.maximum(1, size)))), np.int64)


def _plain_rows(runs: Runs, plain: Integers, places: Places) -> Floats:
    """float64[plain blocks, places]: of blocks that are held as their events."""
    if not len(plain):
        return np.zeros((0, len(places.columns)))
    if runs.is_long:
        counted = np.zeros((1, MOST_PLACES))
        for stretch in runs.stretches():
            own = _by_site(stretch.reshape(-1, 2)[:, 1], np.zeros(len(stretch) // 2, np.int64), 1)
            counted[:, : own.shape[1]] += own
    else:
        begins = np.concatenate([np.zeros(1, np.int64), runs.value_ends])
        words = [runs.values[begins[block] : begins[block + 1]].reshape(-1, 2)[:, 1] for block in plain.tolist()]
        row = np.repeat(np.arange(len(plain)), [len(each) for each in words])
        counted = _by_site(np.concatenate(words), row, len(plain))
    sites = np.flatnonzero(counted.any(axis=0))
    columns = np.array([places.column(site, IRREGULAR) for site in sites.tolist()], np.int64)
    rows = np.zeros((len(plain), len(places.columns)))
    rows[:, columns[columns >= 0]] = counted[:, sites[columns >= 0]]
    return rows


def _by_site(what: Integers, row: Integers, rows: int) -> Floats:
    """float64[rows, sites]: events of each row by site; of sites from MOST_PLACES on, as of one."""
    site = np.minimum(what & at.SITE_MASK, MOST_PLACES - 1)
    width = int(site.max(initial=0)) + 1
    return np.bincount(row * width + site, minlength=rows * width).reshape(rows, width).astype(float)

"""The phases of a block, and blocks begun in one of them.

A block may have several long loops, or long runs of work, one after another, of which each goes at a pace of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.sampling.long.phases import each_begun, events_of, inside
from simtmm.trace.info import TraceInfo
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.layout import Structures
from simtmm.trace.schema import Kind
from simtmm.trace.site_tables import site_tables

Integers = npt.NDArray[np.int64]

LONG = 0.05  # of a thread's work: of what is a phase of its own
MOSTLY = 0.9  # of it: of what is all that counts


@dataclass(frozen=True)
class _Item:
    """An outer loop, or another row of a node. row, end: that begins it, and the one behind it. trips: of the loop, or
    how often a row's work is done. work: of a thread in each.
    """

    row: int
    end: int
    trips: int
    work: float
    is_loop: bool

    @property
    def whole(self) -> float:
        """Its work."""
        return self.trips * self.work


@dataclass(frozen=True)
class Phases:
    """The phases of blocks of one structure.

    cuts: work of a thread before each phase. whole: that of all of them. can_cut: whether blocks can be begun in them:
    all threads do the same.
    """

    cuts: tuple[float, ...]
    whole: float
    can_cut: bool
    items: tuple[_Item, ...]


def phases_of(runs: Runs, info: TraceInfo) -> Phases:
    """The phases of blocks. runs: of which all blocks have structure 0, the only one. info: of their trace."""
    structures = runs.structures
    work = _work(runs, info)
    ends = structures.node[:, at.Node.steps].tolist()
    nodes = [_items(structures.step, work, runs.values, *each) for each in zip([0, *ends[:-1]], ends, strict=True)]
    before = np.zeros(len(nodes))  # of each node, on the way to it; parents stand before their children
    for node, parent in enumerate(structures.node[:, at.Node.parent].tolist()):
        if parent >= 0:
            before[node] = before[parent] + sum(item.whole for item in nodes[parent])
    whole = max(before[node] + sum(item.whole for item in items) for node, items in enumerate(nodes))
    longest = max((item.whole for items in nodes for item in items), default=0.0)
    if longest >= MOSTLY * whole:
        return Phases((0.0,), whole, True, ())
    begins, done = [], 0.0
    for item in nodes[0]:
        if item.whole >= LONG * whole:
            begins.append(done)
        done += item.whole
    return Phases((0.0, *begins[1:]), whole, len(nodes) == 1, tuple(nodes[0]))


def begun(runs: Runs, phases: Phases, parts: Sequence[float]) -> Runs:
    """Blocks each after so much work of a thread, about: whole trips of loops. runs, phases: see `phases_of`."""
    return each_begun(runs, parts, lambda part: _after(runs.structures, phases, part))


def _work(runs: Runs, info: TraceInfo) -> Integers:
    """int64[rows]: instructions of an event of each, without those of the event itself where that is work."""
    of_site = site_tables(info.sites).work
    what = runs.structures.step[:, at.Step.what]
    site = what & at.SITE_MASK
    known = np.zeros(len(what), np.int64)
    if len(of_site):
        known = np.where(site < len(of_site), of_site[np.minimum(site, len(of_site) - 1)], 0)
    is_work = (what >> at.KIND_SHIFT) & at.KIND_MASK == int(Kind.WORK)
    return np.where(is_work, np.maximum(1, known), known + 1)


def _items(steps: Integers, work: Integers, values: Integers, begin: int, end: int) -> list[_Item]:
    """The outer loops and other rows of a node, in order."""
    found, row = [], begin
    while row < end:
        what = int(steps[row, at.Step.what])
        if what == at.LOOP:
            behind = row + 1 + int(steps[row, at.Step.y])
            inner = sum(item.whole for item in _items(steps, work, values, row + 1, behind))
            found.append(_Item(row, behind, int(steps[row, at.Step.x]), inner, True))
            row = behind
        else:
            is_work = (what >> at.KIND_SHIFT) & at.KIND_MASK == int(Kind.WORK)
            times = max(1, int(values[steps[row, at.Step.value]])) if is_work else 1
            found.append(_Item(row, row + 1, times, float(work[row]), False))
            row += 1
    return found


def _after(structures: Structures, phases: Phases, done: float) -> tuple[Structures, Integers, Integers]:
    """A structure of one node after so much work; which of a block's values it has, and what is added to each."""
    count = int(structures.structure[0, at.Structure.values])
    taken, added = [np.arange(count)], [np.zeros(count, np.int64)]
    left, at_item = done, 0
    while at_item < len(phases.items) - 1 and left >= phases.items[at_item].whole:
        left -= phases.items[at_item].whole
        at_item += 1
    if not phases.items:
        return structures, taken[0], added[0]
    item = phases.items[at_item]
    steps, threads = structures.step.copy(), int(structures.node[0, at.Node.threads])
    skipped = min(int(left // item.work), item.trips - 1) if item.work else 0
    if skipped:
        within = inside(steps, item.row, item.end) if item.is_loop else [(item.row, 0)]
        for row, deep in within:
            own = threads if steps[row, at.Step.form] == at.LISTED else 1
            value = int(steps[row, at.Step.value])
            taken.append(np.arange(value, value + own))
            by = skipped * int(steps[row, at.Step.inner + deep - 1]) if item.is_loop else -skipped
            added.append(np.full(own, by, np.int64))
            steps[row, at.Step.value] = count
            count += own
        if item.is_loop:
            steps[item.row, at.Step.x] -= skipped
    kept, node, rows = steps[item.row :], structures.node.copy(), structures.structure.copy()
    node[0, at.Node.steps] = rows[0, at.Structure.steps] = len(kept)
    rows[0, at.Structure.values] = count
    rows[0, at.Structure.events] = threads * events_of(kept, 0, len(kept))
    return (
        structures._replace(structure=rows, node=node, step=np.ascontiguousarray(kept)),
        np.concatenate(taken),
        np.concatenate(added),
    )

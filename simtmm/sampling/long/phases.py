"""Blocks that are under way: the same blocks, begun so far into their longest loop.

In the middle of a launch the blocks that are resident are at different places of what they do. A block that begins in
the middle is the block itself with fewer trips through the outer loop that has most of its events, whose values are
those of the trips that are left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.layout import Structures

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Loop:
    """An outer loop of a node. row, end: that begins it, and the one behind it; events: of a thread in a trip."""

    row: int
    end: int
    trips: int
    events: int


def under_way(runs: Runs, parts: Sequence[float]) -> Runs:
    """Blocks of one structure, each so far into what it does.

    runs: of which all blocks have structure 0, the only one. parts: of each block, from 0 up to 1, of the trips through
    its loops, those that are behind it.
    """
    assert len(runs.structures.structure) == 1
    return each_begun(runs, parts, lambda part: _begun(runs.structures, part))


def each_begun(
    runs: Runs, parts: Sequence[float], begin: Callable[[float], tuple[Structures, Integers, Integers]]
) -> Runs:
    """Blocks of one structure, each begun so far in.

    begin: for a part the structure that is left of it, which of a block's values it has, and what is added to each.
    """
    different = sorted(set(parts))
    number = {part: index for index, part in enumerate(different)}
    made = [begin(part) for part in different]
    values, structure, ends = [], [], []
    begins = np.concatenate([np.zeros(1, np.int64), runs.value_ends])
    for block, part in enumerate(parts):
        _, taken, added = made[number[part]]
        values.append(runs.values[begins[block] : begins[block + 1]][taken] + added)
        structure.append(number[part])
        ends.append(len(taken))
    return replace(
        runs,
        structure=np.array(structure, np.int64),
        value_ends=np.cumsum(ends, dtype=np.int64),
        values=np.concatenate(values),
        structures=joined([each for each, _, _ in made]),
    )


def _begun(structures: Structures, part: float) -> tuple[Structures, Integers, Integers]:
    """A structure begun so far in; which of a block's values it has, and what is added to each."""
    rows, nodes = structures.structure.copy(), structures.node
    steps = structures.step.copy()
    taken, added = [np.arange(rows[0, at.Structure.values])], [np.zeros(rows[0, at.Structure.values], np.int64)]
    count = int(rows[0, at.Structure.values])
    begin = 0
    for node in nodes:
        end, threads = int(node[at.Node.steps]), int(node[at.Node.threads])
        longest = max(loops_of(steps, begin, end), key=lambda loop: loop.trips * loop.events, default=None)
        skipped = int(part * longest.trips) if longest else 0
        if longest and skipped:
            steps[longest.row, at.Step.x] -= skipped
            rows[0, at.Structure.events] -= skipped * longest.events * threads
            for row, deep in inside(steps, longest.row, longest.end):
                own = threads if steps[row, at.Step.form] == at.LISTED else 1
                value = int(steps[row, at.Step.value])
                taken.append(np.arange(value, value + own))
                added.append(np.full(own, skipped * steps[row, at.Step.inner + deep - 1]))
                steps[row, at.Step.value] = count
                count += own
        begin = end
    rows[0, at.Structure.values] = count
    return structures._replace(structure=rows, step=steps), np.concatenate(taken), np.concatenate(added)


def loops_of(steps: Integers, begin: int, end: int) -> list[Loop]:
    """The outer loops of a node."""
    found = []
    row = begin
    while row < end:
        if steps[row, at.Step.what] == at.LOOP:
            behind = row + 1 + int(steps[row, at.Step.y])
            found.append(Loop(row, behind, int(steps[row, at.Step.x]), events_of(steps, row + 1, behind)))
            row = behind
        else:
            row += 1
    return found


def events_of(steps: Integers, begin: int, end: int) -> int:
    """Events of a thread that some rows stand for."""
    inner = loops_of(steps, begin, end)
    alone = end - begin - sum(loop.end - loop.row for loop in inner)
    return alone + sum(loop.trips * loop.events for loop in inner)


def inside(steps: Integers, begin: int, end: int) -> list[tuple[int, int]]:
    """The steps of a loop, and in how many loops each is, that one included. begin, end: its row and the one behind."""
    found, ends = [], [end]
    for row in range(begin + 1, end):
        while row >= ends[-1]:
            ends.pop()
        if steps[row, at.Step.what] == at.LOOP:
            ends.append(row + 1 + int(steps[row, at.Step.y]))
        else:
            found.append((row, len(ends)))
    return found


def joined(parts: Sequence[Structures]) -> Structures:
    """Structures behind one another, of tables of one each."""
    rows = np.concatenate([part.structure for part in parts])
    for column in (at.Structure.nodes, at.Structure.steps, at.Structure.words):
        rows[:, column] = np.cumsum(rows[:, column])
    return Structures(
        rows,
        np.concatenate([part.node for part in parts]),
        np.concatenate([part.step for part in parts]),
        np.concatenate([part.words for part in parts]),
    )

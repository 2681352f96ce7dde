"""Batches of events, as they come, encoded as runs of whole blocks."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from simtmm.native import Loop
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import STRETCH, Integers, Runs, Shape
from simtmm.trace.runs.encoding import LEFT_PLAIN, MOST_ENTRIES, encode, grow_stretch
from simtmm.trace.runs.growing import Entry, List, Tree, TreeUsed
from simtmm.trace.runs.layout import Structures
from simtmm.trace.runs.mapped import LONG, Spool, let_go, memory_of
from simtmm.trace.runs.parting import Draft, DraftUsed
from simtmm.trace.schema import EVENT, Batch, Events

PIECE = 1 << 18  # events that are encoded at once, so that irregular ones need not much room; and words of runs
TOGETHER = 1 << 22  # events of runs, about: what is lowered at once

_ENCODE, _GROW_STRETCH = Loop(encode, what="the trace encoder"), Loop(grow_stretch)


@dataclass
class _Open:
    """Blocks of a launch that are being encoded."""

    launch: int
    shape: Shape
    draft: Draft
    block: list[npt.NDArray[np.int32]] = field(default_factory=list)
    structure: list[Integers] = field(default_factory=list)
    value_ends: list[Integers] = field(default_factory=list)
    events: int = 0


class Encoder:
    """Makes runs of the events of blocks; keeps the room that it needs from one batch to the next."""

    def __init__(self) -> None:
        self._tree = _tree(1 << 12, 1 << 10)
        self._room = 1 << 12
        self._open: _Open | None = None

    def encoded(self, batch: Batch, shapes: Sequence[Shape]) -> Iterator[Runs]:
        """What is complete with the blocks of a batch; `rest` gives the others. shapes: of the blocks of each launch.

        The batch is not stored.
        """
        is_first = np.diff(batch.launch, prepend=-1) != 0
        events = max(1, len(batch.events))
        is_first |= np.diff((batch.ends - 1) * max(1, round(events / PIECE)) // events, prepend=-1) > 0
        is_long = np.diff(batch.ends, prepend=0) > LONG
        is_first |= is_long
        is_first[1:] |= is_long[:-1]
        is_first &= ~_are_distances(batch)  # these stay with what they are the distances from
        for first, last in pairwise([*np.flatnonzero(is_first).tolist(), len(batch.launch)]):
            launch = int(batch.launch[first])
            if self._open and self._open.launch != launch:
                yield from self.rest()
            if last - first == 1 and (part := _part(batch, first, last)).ends[0] > LONG:
                yield from self._long(part, launch, shapes[launch])
                continue
            self._add(_part(batch, first, last), launch, shapes[launch])
            if self._is_full():
                yield from self.rest()

    def rest(self) -> Iterator[Runs]:
        """The blocks that have been taken in since."""
        if self._open is None:
            return
        opened, self._open = self._open, None
        if not opened.block:
            return
        draft, used = opened.draft, opened.draft.used
        structures = Structures(
            draft.structure[: used[DraftUsed.structures]].copy(),
            draft.node[: used[DraftUsed.nodes]].copy(),
            draft.step[: used[DraftUsed.steps]].copy(),
            draft.words[: used[DraftUsed.words]].copy(),
        )
        yield Runs(
            opened.launch,
            opened.shape,
            np.concatenate(opened.block),
            np.concatenate(opened.structure),
            np.concatenate(opened.value_ends),
            draft.values[: used[DraftUsed.values]].copy(),
            structures,
        )

    def _long(self, batch: Batch, launch: int, shape: Shape) -> Iterator[Runs]:
        """A block that has so many events that they should lie in a file; what is complete with it."""
        if memory_of(batch.events) is None:
            spool = Spool()
            spool.append(batch.events)
            batch = dataclasses.replace(batch, events=spool.mapped(EVENT))
        words = batch.events.view(np.int64)
        self._opened(launch, shape)
        if self._grown(batch, shape):
            if self._is_full():
                yield from self.rest()
            return
        yield from self.rest()
        self._tree, self._room = _tree(1 << 12, len(self._tree.at)), 1 << 12  # has become large for nothing
        nothing = _draft(0, 0)
        yield Runs(
            launch, shape, batch.block, np.full(1, at.PLAIN, np.int64), np.full(1, len(words)), words,
            Structures(nothing.structure, nothing.node, nothing.step, nothing.words),
        )  # fmt: skip

    def _grown(self, batch: Batch, shape: Shape) -> bool:
        """Take in a block whose events lie in a file, unless it is to be plain."""
        opened = self._open
        assert opened is not None
        words, count = batch.events.view(np.int64), len(batch.events)
        structure, value_ends = np.empty(1, np.int64), np.empty(1, np.int64)
        while True:
            done = 0
            while done < count:
                upto = min(count, done + STRETCH)
                grown = _GROW_STRETCH(self._tree, words, done, upto, *shape)
                let_go(words)
                if grown < upto:
                    break
                done = upto
            else:
                rest = words[:0], batch.ends, 0, 0, *shape, structure, value_ends, 1
                found = _ENCODE(self._tree, opened.draft, *rest)
                if found == LEFT_PLAIN:
                    return False
                if found == 1:
                    break
            if done < count and len(self._tree.parent) >= MOST_ENTRIES:
                return False
            opened.draft = self._larger(opened.draft)
        opened.block.append(batch.block.copy())
        opened.structure.append(structure)
        opened.value_ends.append(value_ends)
        opened.events += count
        return True

    def runs(self, batch: Batch, launch: int, shape: Shape) -> Runs:
        """Blocks of one launch, the events of each in the order of its threads, as runs."""
        self._add(batch, launch, shape)
        (structures,) = self.rest()
        return structures

    def _is_full(self) -> bool:
        """Whether as much has come together as is read at once."""
        opened = self._open
        if opened is None:
            return False
        used = opened.draft.used
        words = (
            len(at.Node) * used[DraftUsed.nodes]
            + len(at.Step) * used[DraftUsed.steps]
            + used[DraftUsed.words]
            + used[DraftUsed.values]
        )
        return opened.events >= TOGETHER or int(words) >= PIECE

    def _add(self, batch: Batch, launch: int, shape: Shape) -> None:
        x, y, z = shape
        blocks = len(batch.block)
        structure, value_ends = np.empty(blocks, np.int64), np.empty(blocks, np.int64)
        events = batch.events.view(np.int64)
        opened = self._opened(launch, shape)
        done = 0
        while True:
            begin, draft = int(batch.ends[done - 1]) if done else 0, opened.draft
            done = _ENCODE(self._tree, draft, events, batch.ends, done, begin, x, y, z, structure, value_ends, 0)
            if done == blocks:
                break
            opened.draft = self._larger(draft)
        opened.block.append(batch.block.copy())
        opened.structure.append(structure)
        opened.value_ends.append(value_ends)
        opened.events += batch.count

    def _opened(self, launch: int, shape: Shape) -> _Open:
        """What blocks of a launch go to, with room for their threads."""
        if self._open is None:
            self._open = _Open(launch, shape, _draft(self._room, 2 * len(self._tree.parent)))
        threads = shape[0] * shape[1] * shape[2]
        if len(self._tree.at) < threads:
            self._tree = self._tree._replace(at=np.zeros(threads, np.int64))
        return self._open

    def _larger(self, draft: Draft) -> Draft:
        """The same with twice the room, and a tree with twice the room."""
        self._room *= 2
        self._tree = _tree(min(2 * len(self._tree.parent), MOST_ENTRIES), len(self._tree.at))
        larger = _draft(self._room, 2 * len(self._tree.parent))
        for name in ("structure", "node", "step", "words", "values"):
            old = getattr(draft, name)
            getattr(larger, name)[: len(old)] = old
        larger.used[:] = draft.used
        mask = len(larger.known) - 1
        for number in range(int(draft.used[DraftUsed.structures])):
            bucket = int(draft.structure[number, at.Structure.hash]) & mask
            while larger.known[bucket]:
                bucket = bucket + 1 & mask
            larger.known[bucket] = number + 1
        return larger


def _tree(entries: int, threads: int) -> Tree:
    return Tree(
        used=np.zeros(len(TreeUsed), np.int64),
        entry=np.empty((entries, len(Entry)), np.int64),
        next_x=np.empty(2 * entries, np.int64),
        parent=np.empty(entries, np.int64),
        lists=np.empty((entries, len(List)), np.int64),
        listed=np.empty(8 * entries, np.int64),
        at=np.zeros(threads, np.int64),
    )


def _draft(room: int, entries: int) -> Draft:
    def table(*shape: int) -> Integers:
        return np.empty(shape, np.int64)

    return Draft(
        used=np.zeros(len(DraftUsed), np.int64),
        structure=table(room, len(at.Structure)),
        node=table(room, len(at.Node)),
        step=table(2 * room, len(at.Step)),
        words=np.empty(4 * room, np.uint64),
        values=table(8 * room),
        threads_below=table(entries),
        node_of=table(entries),
        stack=table(entries),
        first_entry=table(room),
        last_child=table(room),
        deep=table(2 * room),
        following=table(2 * room),
        buckets=table(1 << 10),
        more=table(2 * room),
        distance_of=table(8 * room),
        known=np.zeros(4 * room, np.int64),
    )


def runs_of(batches: Iterable[Batch], shapes: Sequence[Shape], encoder: Encoder | None = None) -> Iterator[Runs]:
    """Batches as runs, each of one launch. shapes: of the blocks of each launch."""
    encoder = encoder or Encoder()
    for batch in batches:
        yield from encoder.encoded(batch, shapes)
    yield from encoder.rest()


def _are_distances(batch: Batch) -> npt.NDArray[np.bool_]:
    """Which blocks stand as distances; see Batch."""
    begins = np.concatenate([np.zeros(1, np.int64), batch.ends[:-1]])
    found = begins < batch.ends
    if not batch.spared:
        return np.zeros_like(found)
    found[found] = batch.events["kind"][begins[found]] == at.DISTANCE
    return found


def _count(batch: Batch) -> int:
    """How many events the blocks of a part of a batch have; see Batch."""
    counts = np.diff(batch.ends, prepend=0)
    stands = np.where(_are_distances(batch), 0, np.arange(len(counts)))
    return int(counts[np.maximum.accumulate(stands)].sum())


def _part(batch: Batch, first: int, last: int) -> Batch:
    if first == 0 and last == len(batch.launch):
        return batch
    begin = int(batch.ends[first - 1]) if first else 0
    end = int(batch.ends[last - 1])
    events: Events = batch.events[begin:end]
    ends = batch.ends[first:last] - begin
    part = Batch(events, batch.launch[first:last], batch.block[first:last], ends, spared=batch.spared)
    return dataclasses.replace(part, spared=_count(part) - len(events))

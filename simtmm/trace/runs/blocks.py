"""Blocks as runs: their structures and values, what they hold, and decoded to events again."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.native import Loop
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.decoding import NEST, decode
from simtmm.trace.runs.layout import Structures
from simtmm.trace.runs.mapped import COUNTS_AS, let_go, memory_of
from simtmm.trace.runs.summing import FACTORS, PRIME, SUMS, Factor, Over, Scratch, sum_runs, sum_stretch
from simtmm.trace.schema import EVENT, Batch

MOST_WEIGHED = 1 << 12  # values of a block whose digest follows from weights of values, 32 bytes each
STRETCH = 1 << 20  # words of a long block that are read at once

Integers = npt.NDArray[np.int64]
Shape = tuple[int, int, int]

_DECODE, _SUM, _SUM_STRETCH = Loop(decode), Loop(sum_runs), Loop(sum_stretch)


@dataclass(frozen=True, eq=False)
class Runs:
    """Blocks of a launch, held by what their threads have in common; see simtmm/trace/runs/layout.py.

    block: int32[blocks]. structure: int64[blocks], of `structures`, or PLAIN. value_ends: int64[blocks], the values up
    to and with that block's. events: int64[blocks], how many each has.

    A plain block with more than mapped.LONG events is alone, and its values lie in a file.
    """

    launch: int
    shape: Shape
    block: npt.NDArray[np.int32]
    structure: Integers
    value_ends: Integers
    values: Integers
    structures: Structures

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What comes from another process may lie at any address, which loops do not read."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value = np.require(value, requirements=["C", "ALIGNED"])
            elif isinstance(value, Structures):
                value = Structures(*(np.require(table, requirements=["C", "ALIGNED"]) for table in value))
            object.__setattr__(self, name, value)

    @cached_property
    def events(self) -> Integers:
        """How many events each block has."""
        of_structure = self.structures.structure[:, at.Structure.events]
        plain = np.diff(self.value_ends, prepend=0) // 2
        if not len(of_structure):
            return plain
        return np.where(self.structure == at.PLAIN, plain, of_structure[self.structure])

    def to_batch(self) -> Batch:
        """The events themselves."""
        counts = self.events
        if self.is_long:
            return Batch(self.values.view(EVENT), np.full(1, self.launch, np.int32), self.block, counts)
        events = np.empty(int(counts.sum()), EVENT)
        ends = np.empty(len(self.block), np.int64)
        x, y, _ = self.shape
        words = events.view(np.int64).reshape(-1, 2)
        _DECODE(
            self.structures, self.structure, self.values, self.value_ends, x, y, words, ends, np.zeros(NEST, np.int64)
        )
        return Batch(events, np.full(len(self.block), self.launch, np.int32), self.block, ends)

    def sums(self) -> Integers:
        """int64[blocks, SUMS] that depend on the events alone; see simtmm/trace/runs/summing.py."""
        sums, nodes = np.empty((len(self.block), SUMS), np.int64), 64
        powers, shape = _powers(self.shape[0] * self.shape[1] * self.shape[2]), np.array(self.shape, np.int64)
        if self.is_long:
            over, time, thread = np.zeros((1, SUMS, len(Over)), np.int64), np.zeros((2, SUMS), np.int64), -1
            scratch = Scratch(FACTORS, powers, over, time, np.zeros(NEST, np.int64), np.zeros((1, SUMS), np.int64))
            sums[:] = 0
            for stretch in self.stretches():
                thread = _SUM_STRETCH(stretch, thread, scratch, sums)
            return sums
        values = int(self.structures.structure[:, at.Structure.values].max(initial=0))
        weight = np.zeros((1 + min(MOST_WEIGHED, values), SUMS), np.int64)
        while nodes > 0:
            over, time = np.zeros((nodes, SUMS, len(Over)), np.int64), np.zeros((nodes + 1, SUMS), np.int64)
            scratch = Scratch(FACTORS, powers, over, time, np.zeros(NEST, np.int64), weight)
            nodes = _SUM(self.structures, self.structure, self.values, self.value_ends, shape, scratch, sums)
        return sums

    def of_blocks(self, chosen: npt.NDArray[np.int32]) -> "Runs":
        """Only these blocks, so far as they are here.

        chosen: int32[chosen blocks], numbers of blocks within their launch.
        """
        kept = np.flatnonzero(np.isin(self.block, chosen))
        if len(kept) == len(self.block):
            return self
        begins = np.concatenate([np.zeros(1, np.int64), self.value_ends])[kept]
        pieces = [self.values[begin:end] for begin, end in zip(begins, self.value_ends[kept], strict=True)]
        return dataclasses.replace(
            self,
            block=self.block[kept],
            structure=self.structure[kept],
            value_ends=np.cumsum([len(piece) for piece in pieces], dtype=np.int64),
            values=np.concatenate([np.empty(0, np.int64), *pieces]),
        )

    @property
    def bytes(self) -> int:
        """Memory that this takes, about."""
        tables = (self.block, self.structure, self.value_ends, self.values, *self.structures)
        return sum(array.nbytes // (1 if memory_of(array) is None else COUNTS_AS) for array in tables)

    @property
    def is_long(self) -> bool:
        """Whether this is one plain block, and its values lie in a file."""
        return memory_of(self.values) is not None

    def stretches(self) -> Iterator[Integers]:
        """The values of such a block, some at a time, which are let go of."""
        for begin in range(0, len(self.values), STRETCH):
            yield self.values[begin : begin + STRETCH]
            self.let_go()

    def let_go(self) -> None:
        """Have values that lie in a file take no memory until they are read again."""
        let_go(self.values)


@cache
def _powers(threads: int) -> Integers:
    """See summing.Scratch."""
    powers = np.ones((threads, SUMS), np.int64)
    for thread in range(1, threads):
        powers[thread] = powers[thread - 1] * FACTORS[:, Factor.thread] % PRIME
    powers.setflags(write=False)
    return powers

"""Records of mem_trace's accesses, which come in any order, brought together block by block through files.

Blocks side by side that have about as many records as may be held at once share a stretch of a file: how long each is
follows from the counts of a first pass, and records are added to theirs in the order in which they come.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from simtmm.trace.importers.memtrace_lines import RECORD
from simtmm.trace.importers.warps import LANES

Records = npt.NDArray[np.void]
Integers = npt.NDArray[np.int64]

LONG_RECORDS = 1 << 18  # of a block: with more it is read in pieces; 74 MiB, and more than two stretches may have
_MOST_APART = 1 << 20  # counts that are not yet put together


class Counts:
    """How many records each block has, of those that have any: a grid may be far larger than what a file records."""

    def __init__(self) -> None:
        self._parts: list[tuple[Integers, Integers]] = []  # blocks, ascending, and their records

    def add(self, blocks: Integers) -> None:
        """Count the blocks of some records."""
        numbers, counts = np.unique(blocks, return_counts=True)
        self._parts.append((numbers, counts.astype(np.int64)))
        if sum(len(part) for part, _ in self._parts[1:]) > max(len(self._parts[0][0]), _MOST_APART):
            self._parts = [self.total()]

    def total(self) -> tuple[Integers, Integers]:
        """The blocks, ascending, and the records of each."""
        blocks, places = np.unique(np.concatenate([blocks for blocks, _ in self._parts]), return_inverse=True)
        counts = np.zeros(len(blocks), np.int64)
        np.add.at(counts, places, np.concatenate([counts for _, counts in self._parts]))
        return blocks, counts


@dataclass(frozen=True)
class LongStretch:
    """The records of one block, which are too many to be held: they lie in a file."""

    file: IO[bytes]
    first: int
    count: int

    def pieces(self, most: int) -> Iterator[Records]:
        """So many at once, in order."""
        for begin in range(0, self.count, most):
            yield self._read(begin, most)

    def pieces_backwards(self, most: int) -> Iterator[Records]:
        """The same pieces, the last one first."""
        for begin in reversed(range(0, self.count, most)):
            yield self._read(begin, most)

    def _read(self, begin: int, most: int) -> Records:
        self.file.seek((self.first + begin) * RECORD.itemsize)
        return np.frombuffer(self.file.read(min(most, self.count - begin) * RECORD.itemsize), RECORD)


def of_whole_blocks(counts: Counts, mixed: IO[bytes], file: IO[bytes], most: int) -> Iterator[Records | LongStretch]:
    """The records of a file in stretches of whole blocks that follow one another, each as its records came.

    file: an empty one, for the stretches. most: records that are read at once, and the rest of a block; one with more
    than LONG_RECORDS is a stretch of its own.
    """
    blocks, records_of = counts.total()
    if not len(blocks):
        return
    firsts, ends = _stretches(records_of, most)
    places = np.concatenate([np.zeros(1, np.int64), ends[:-1]]).tolist()  # in the file, where the next record goes
    of_block = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(blocks))))
    mixed.seek(0)
    while piece := mixed.read(most * RECORD.itemsize):
        records = np.frombuffer(piece, RECORD)
        own = of_block[np.searchsorted(blocks, records["block"])]
        order = np.argsort(own, kind="stable")
        own, records = own[order], records[order]
        begins = np.flatnonzero(np.diff(own, prepend=-1))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(own)], strict=True):
            stretch = int(own[begin])
            file.seek(places[stretch] * RECORD.itemsize)
            file.write(records[begin:end].tobytes())
            places[stretch] += end - begin
    first = 0
    for count in np.diff(ends, prepend=0).tolist():
        stretch_of_it = LongStretch(file, first, count)
        yield stretch_of_it if count > LONG_RECORDS else next(stretch_of_it.pieces(count))
        first += count


def _stretches(records_of: Integers, most: int) -> tuple[Integers, Integers]:
    """Of each stretch its first block, and how many records there are up to its end."""
    ends = np.cumsum(records_of)
    firsts = [0]
    while True:
        begin = int(ends[firsts[-1] - 1]) if firsts[-1] else 0
        # Behind the block in which the last record that may be read at once lies.
        behind = int(np.searchsorted(ends, min(begin + most, int(ends[-1])))) + 1
        if records_of[behind - 1] > most and behind - 1 > firsts[-1]:  # a large block has a stretch to itself
            behind -= 1
        if behind == len(ends):
            return np.array(firsts), ends[np.array([*firsts[1:], behind]) - 1]
        firsts.append(behind)


def warps_of(
    records: Records, new_block: npt.NDArray[np.bool_], new_warp: npt.NDArray[np.bool_], threads: Integers
) -> Integers:
    """The warp of its block that each record belongs to.

    The tool gives the place of the warp on its multiprocessor. Where one of a block's is none of a warp of the block,
    the block's warps are numbered in the order of their places.
    """
    block = np.cumsum(new_block) - 1
    begins = np.flatnonzero(new_block)
    warps = np.cumsum(new_warp)
    rank = warps - warps[begins][block]
    plain = np.maximum.reduceat(records["warp"].astype(np.int64), begins) * LANES < threads[begins]
    return np.where(plain[block], records["warp"].astype(np.int64), rank)

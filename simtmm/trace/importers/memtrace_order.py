"""Records of mem_trace's accesses, which come in any order, sorted by block through a file."""

from collections.abc import Iterator
from typing import IO

import numpy as np
import numpy.typing as npt

from simtmm.trace.importers.memtrace_lines import RECORD, place_records

Records = npt.NDArray[np.void]
Integers = npt.NDArray[np.int64]

_MOST_APART = 1 << 20  # counts that are not yet put together


class Counts:
    """How many records each block has, of those that have any: a grid may be far larger than what a file tells of."""

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


def sorted_records(counts: Counts, unsorted: IO[bytes], file: IO[bytes], most: int) -> Iterator[Records]:
    """The records of a file, sorted by block, in stretches of whole blocks; those of one block as they came.

    file: an empty one, for the sorted records. most: records that are read at once, and the rest of a block.
    """
    blocks, records_of = counts.total()
    ends = np.cumsum(records_of)
    total = int(ends[-1]) if len(ends) else 0
    if not total:
        return
    in_order = np.memmap(file, RECORD, "w+", shape=(total,))
    begins = ends - records_of
    unsorted.seek(0)
    while piece := unsorted.read(most * RECORD.itemsize):
        records = np.frombuffer(piece, RECORD)
        places = np.empty(len(records), np.int64)
        place_records(np.searchsorted(blocks, records["block"]), begins, places)
        in_order[places] = records
    begin = 0
    while begin < total:
        # Up to the end of the block in which the last record that may be read at once lies.
        end = int(ends[np.searchsorted(ends, min(begin + most, total))])
        yield np.array(in_order[begin:end])
        begin = end

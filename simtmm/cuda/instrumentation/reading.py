"""A buffer that instrumented kernels have filled, as the log that a run on the CPU gives (simtmm.cuda.log.loops).

There each block's entries stand together, warp by warp, and addresses are the virtual ones of a trace.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import LANES, LOG_ENTRY
from simtmm.cuda.instrumentation import entries
from simtmm.cuda.instrumentation.layout import LARGEST_ENTRY, WARP_BITS
from simtmm.trace.schema import Kind

Words = npt.NDArray[np.int64]
GROUP = 1 << 22  # bytes of the log that are given at a time, unless a block has more
_BLOCK_WORDS, _ACCESS_WORDS = 2, LOG_ENTRY // 8
_WINDOWED = (Kind.ASYNC, Kind.STORE, Kind.ATOMIC)  # what a generic address makes of them depends on its window


class DamagedError(Exception):
    """A buffer holds what no kernel writes: behind how many bytes."""


class OutsideError(Exception):
    """An address lies in no array: site, block, thread of the block, address."""


@dataclass(frozen=True)
class Extents:
    """Where on the device what lies: first and last address and one more, with the state space; and the virtual one.

    low, end, virtual: int64, ascending.
    """

    low: Words
    end: Words
    virtual: Words

    @staticmethod
    def of(rows: list[tuple[int, int, int]]) -> "Extents":
        """From rows of address, bytes and virtual address, in any order.

        rows: one for each array.
        """
        table = np.array(sorted((low, low + size, virtual) for low, size, virtual in rows), np.int64).reshape(-1, 3)
        return Extents(*(np.ascontiguousarray(column) for column in table.T))


@dataclass(frozen=True)
class Reading:
    """What the numbers of sites stand for, of one kernel.

    sites: int64, the kernel's number of each site of the module; -1 for those that are none of its. kind, width,
    generic: of each of the kernel's sites, as a SiteTable has them. extents: where what lies.
    """

    sites: Words
    kind: npt.NDArray[np.uint8]
    width: npt.NDArray[np.uint8]
    generic: npt.NDArray[np.bool_]
    extents: Extents

    def log(self, buffer: npt.NDArray[np.uint8]) -> Iterator[tuple[npt.NDArray[np.uint8], int]]:
        """Pieces of a log, and the number of the block before which all have ended; blocks ascend.

        buffer: uint8[bytes].

        Raises DamagedError and OutsideError.
        """
        words = buffer.view(np.int64)
        nothing = np.empty(0, np.int64)
        count = entries.FIND(words, self.sites, self.kind, nothing, nothing)
        if count < 0:
            raise DamagedError(8 * (-1 - count))
        starts, warps = np.empty((2, count), np.int64)
        entries.FIND(words, self.sites, self.kind, starts, warps)
        order = np.argsort(warps, kind="stable")  # of a warp, they stand in their order already
        starts, warps = starts[order], warps[order]
        blocks = warps >> WARP_BITS
        accesses = ~np.isin(self.kind[self.sites[words[starts] & 0xFFFFFFFF]], (Kind.WORK, Kind.BARRIER))
        sizes = np.where(accesses, _ACCESS_WORDS, 1) + np.diff(warps, prepend=-1).astype(bool)
        sizes += _BLOCK_WORDS * np.diff(blocks, prepend=-1).astype(bool)
        firsts = np.append(np.flatnonzero(np.diff(blocks, prepend=-1)), count)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        windowed = self.generic & np.isin(self.kind, _WINDOWED)
        begin = 0
        while begin < len(firsts) - 1:
            limit = ends[firsts[begin]] + GROUP // 8
            last = max(begin + 1, int(np.searchsorted(ends[firsts], limit, side="right")) - 1)
            chosen = slice(firsts[begin], firsts[last])
            log = np.empty(int(ends[firsts[last]] - ends[firsts[begin]]), np.int64)
            wrong = entries.WRITE(
                words, starts[chosen], warps[chosen], self.sites, self.kind, self.width, windowed.view(np.uint8),
                self.extents.low, self.extents.end, self.extents.virtual, log,
            )  # fmt: skip
            if wrong:
                raise self._outside(words, int(starts[chosen][(wrong - 1) // LANES]), (wrong - 1) % LANES)
            yield log.view(np.uint8), int(blocks[firsts[last] - 1]) + 1
            begin = last

    def log_of_block(
        self, stretches: Iterable[npt.NDArray[np.uint8]], size: int
    ) -> Iterator[tuple[npt.NDArray[np.uint8], int]]:
        """Likewise of a buffer that has the entries of one block, read in stretches; it has not ended so far.

        size: bytes of all stretches.
        stretches: uint8[bytes] each, in order.
        """
        rest, begin, nothing = np.empty(0, np.uint8), 0, np.empty(0, np.int64)
        for stretch in stretches:
            buffer = np.concatenate([rest, stretch])
            whole = len(buffer)
            count = entries.FIND(buffer.view(np.int64), self.sites, self.kind, nothing, nothing)
            if count < 0 and begin + len(buffer) < size and whole - 8 * (-1 - count) < LARGEST_ENTRY:
                whole = 8 * (-1 - count)  # the last entry goes on in the next stretch
            try:
                for log, ended in self.log(buffer[:whole]):
                    yield log, ended - 1
            except DamagedError as damaged:
                raise DamagedError(begin + damaged.args[0]) from None
            rest, begin = buffer[whole:], begin + whole

    def _outside(self, words: Words, start: int, lane: int) -> OutsideError:
        """What is wrong with the address of a lane, in the entry that begins there."""
        mask, warp = int(words[start]) >> 32 & 0xFFFFFFFF, int(words[start + 1])
        rank = (mask & (1 << lane) - 1).bit_count()
        thread = (warp & (1 << WARP_BITS) - 1) * LANES + lane
        site = int(self.sites[int(words[start]) & 0xFFFFFFFF])
        return OutsideError(site, warp >> WARP_BITS, thread, int(words[start + 2 + rank]))

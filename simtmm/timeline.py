"""Timeline: what each warp did when, as flat arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt


class WarpState(IntEnum):
    """What a warp does: see Timeline."""

    START = 0
    READY = 1
    ISSUING = 2
    PIPELINE = 3
    MEMORY = 4
    BARRIER = 5
    PAUSE = 6


TRAFFIC = (
    "loads", "others", "l1_hits", "l2_loads", "l2_stores", "l2_hits", "memory", "l2_sectors", "memory_sectors",
    "last_level_loads", "last_level_stores", "last_level_hits", "last_level_sectors",
    "shared_l1_loads", "shared_l1_hits", "shared_l1_sectors",
)  # fmt: skip
MOST_STRETCHES = 1024  # even: two become one where the run goes on
STATES = tuple(state.name.lower() for state in WarpState)
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Which block each warp belongs to, both counted over all launches.

    launch_blocks: int64[launches + 1], the first block of each launch. block_warps: int64[blocks + 1], the first warp
    of each block.
    """

    launch_blocks: Integers
    block_warps: Integers

    def of_warps(self, warp: Integers) -> tuple[Integers, Integers]:
        """The launch of each warp, and its block's number within it.

        warp: int64[n], numbers of warps over all launches.
        """
        block = np.searchsorted(self.block_warps, warp, side="right") - 1
        launch = np.searchsorted(self.launch_blocks, block, side="right") - 1
        return launch, block - self.launch_blocks[launch]


@dataclass(frozen=True, eq=False)
class Timeline:
    """The intervals of all warps, from placing to end without gaps, sorted by warp, then by time.

    warp: int64[n], index among the workload's warps. group, slot: int32[n], where it was. state: uint8[n], index into
    STATES. begin, end: int64[n], ticks of the whole run, launch overheads included; begin < end. place: int32[n],
    where the operation comes from that it issues or waits for, a number of the workload's places (of a grant the first
    operation; before all operations the number of places). reason: uint8[n], index into simtmm.stalls.REASONS, of a
    wait the one that takes most of it.

    States: `start`, placed but not begun; `ready`, waits for a port; `issuing`, holds one, an interval a grant;
    `pipeline`, waits out the pipeline (switch = "every-instruction"), or for its instruction's start in a pipe;
    `memory`, waits for a memory instruction of its own, an interval a wait; `barrier`, waits at a barrier; `pause`,
    sleeps, an interval an operation. `start`, `pipeline` and `pause` together are what `Result.time` calls start. A
    warp that ends at the tick at which it was placed has no interval.
    """

    warp: npt.NDArray[np.int64]
    group: npt.NDArray[np.int32]
    slot: npt.NDArray[np.int32]
    state: npt.NDArray[np.uint8]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    place: npt.NDArray[np.int32]
    reason: npt.NDArray[np.uint8]

    @classmethod
    def from_rows(cls, rows: npt.NDArray[np.int64]) -> "Timeline":
        """From int64[n, 8], the columns in the order of the fields, in any order of rows.

        rows: int64[n, 8].
        """
        rows = rows[np.lexsort((rows[:, 4], rows[:, 0]))]
        kinds = (np.int64, np.int32, np.int32, np.uint8, np.int64, np.int64, np.int32, np.uint8)
        return cls(*(rows[:, column].astype(kind) for column, kind in enumerate(kinds)))

    def __len__(self) -> int:
        return len(self.warp)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Timeline):
            return NotImplemented
        mine, others = self.columns(), other.columns()
        return all(np.array_equal(mine[name], others[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment] # arrays have none

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """The arrays by name, as `pandas.DataFrame` and `pyarrow.table` take them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def of_warp(self, warp: int) -> list[tuple[str, int, int]]:
        """One warp's intervals as (state, begin, end), to be read.

        warp: its number, from 0 on, over all launches.
        """
        first, last = np.searchsorted(self.warp, [warp, warp + 1])
        return [
            (STATES[state], int(begin), int(end))
            for state, begin, end in zip(
                self.state[first:last], self.begin[first:last], self.end[first:last], strict=True
            )
        ]

    def ticks(self) -> dict[str, int]:
        """The ticks that warps spent in each state, summed over warps."""
        spent = self.end - self.begin
        return {name: int(spent[self.state == number].sum()) for number, name in enumerate(STATES)}


COPIES = 0  # of Units: the unit of copies in bulk; behind it the pipes of products
OF_WARP = -1  # of rows of engines: a warp's first copy, and one less its first product


@dataclass(frozen=True, eq=False)
class Units:
    """What goes on in core groups beside their warps: copies in bulk under way, and pipes that multiply matrices.

    unit, group: int32[n], COPIES or 1 more than the number of a pipe of products, and where it is. begin, end:
    int64[n], ticks of the whole run, launch overheads included; begin < end. count: int64[n], copies or products that
    began in the interval. Intervals of a unit do not touch; they are sorted by group, unit, and time. copying,
    multiplying: int64[warps], the warps that began copies, and products, ascending.
    """

    unit: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]
    begin: Integers
    end: Integers
    count: Integers
    copying: Integers
    multiplying: Integers

    @classmethod
    def from_rows(cls, rows: Integers) -> "Units":
        """From int64[n, 5]: unit, group, begin, end and count; or OF_WARP, or one less, and the number of a warp.

        rows: int64[n, 5], in any order.
        """
        copying, multiplying = (np.sort(rows[rows[:, 0] == OF_WARP - role, 1]) for role in range(2))
        rows = rows[(rows[:, 0] > OF_WARP) & (rows[:, 3] > rows[:, 2])]
        rows = rows[np.lexsort((rows[:, 2], rows[:, 0], rows[:, 1]))]
        unit, group = (rows[:, column].astype(np.int32) for column in range(2))
        return cls(unit, group, rows[:, 2], rows[:, 3], rows[:, 4], copying, multiplying)

    def __len__(self) -> int:
        return len(self.unit)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Units):
            return NotImplemented
        return all(np.array_equal(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))

    __hash__ = None  # type: ignore[assignment] # arrays have none


@dataclass(frozen=True, eq=False)
class Traffic:
    """Chunks over time: how many pass each level of memory in each stretch of a run, launch overheads included.

    stretch: ticks, the least power of two with which MOST_STRETCHES hold the last chunk. chunks: int64[MOST_STRETCHES,
    TRAFFIC]: `loads` and `others` (stores, atomics) at the memory ports of core groups, and hits of the L1, where they
    start there; `l2_loads`, `l2_stores` and hits of the L2 where its slice takes them up; `memory` where a partition
    begins with them. `l2_sectors` and `memory_sectors` are the sectors of chunks that move there; a chunk is one where
    the machine's lines have none.
    """

    stretch: int
    chunks: Integers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Traffic):
            return NotImplemented
        return self.stretch == other.stretch and np.array_equal(self.chunks, other.chunks)

    __hash__ = None  # type: ignore[assignment] # arrays have none

    def of(self, name: str) -> Integers:
        """Those of a column.

        name: of a column, one of TRAFFIC.
        """
        column: Integers = self.chunks[:, TRAFFIC.index(name)]
        return column

    def within(self, ticks: int, most: int) -> "Traffic":
        """As far as a run of so many ticks goes, in at most so many stretches.

        ticks: the length of the run.
        most: how many stretches there may be.
        """
        stretch, chunks = self.stretch, self.chunks[: -(-max(1, ticks) // self.stretch)]
        while len(chunks) > most:
            padded = np.concatenate([chunks, np.zeros((len(chunks) % 2, len(TRAFFIC)), np.int64)])
            stretch, chunks = 2 * stretch, padded[::2] + padded[1::2]
        return Traffic(stretch, chunks)

"""What the operations of each launch add up to: what counting takes, and what an engine asks before it begins."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from simtmm.native import Columns, Loop, inlined
from simtmm.workload.operations import (
    ASYNC,
    ATOMIC,
    BARRIER,
    COMPUTE,
    COPY,
    GIVE_REGISTERS,
    GRID_BARRIER,
    JOIN,
    LISTED,
    OF_CLASS,
    PASSES_SHIFT,
    PAUSE,
    PRODUCT,
    REDUCE,
    REMOTE,
    SHARED,
    STORE,
    TAKE_REGISTERS,
)

Integers = npt.NDArray[np.int64]

# Columns of a launch's row. Sums of amounts, which may be large, are in two: those of the upper and the lower 32 bits.
Counts = Columns(
    "operations chunks memory stored updated uncoalesced uncoalesced_chunks asyncs most_asyncs longest_compute waits",
    "grid_barriers mbarriers products remotes registers upper_issued lower_issued upper_paused lower_paused conflicts",
)
_NONE_FEWER = 1 << 62
_OF_ONE = ("most_asyncs", "longest_compute", "waits")  # of one warp, or one operation

# Of a warp under way: how often L it has waited; asyncs; the first that is not over
State = Columns("now begun pending")


@dataclass(frozen=True)
class Tally:
    """Of one launch.

    operations, chunks: how many. memory: operations that go to global memory. stored, updated: chunks of stores, and of
    atomics and reduces. uncoalesced, uncoalesced_chunks: operations that list more chunks than the fewest, and what
    those list. asyncs, most_asyncs: of all warps, and of the warp with most. longest_compute: instructions of one.
    waits: times L that the warp with most waits one after another, if nothing else takes any time. grid_barriers: that
    warps come to. mbarriers, products, remotes, registers:
    operations of these kinds. issued: times that warps take an issue port;
    a shared of conflict degree d counts d times. paused: cycles, of all warps. conflicts: of what is issued, d - 1 of
    each shared, which are no instructions of their own.
    """

    operations: int
    chunks: int
    memory: int
    stored: int
    updated: int
    uncoalesced: int
    uncoalesced_chunks: int
    asyncs: int
    most_asyncs: int
    longest_compute: int
    waits: int
    grid_barriers: int
    mbarriers: int
    products: int
    remotes: int
    registers: int
    issued: int
    paused: int
    conflicts: int

    @property
    def instructions(self) -> int:
        """Those that are issued, each once."""
        return self.issued - self.conflicts

    @property
    def waits_for_warps(self) -> bool:
        """Whether warps wait for what others of their block do elsewhere than at barriers."""
        return self.mbarriers > 0 or self.registers > 0

    def times(self, factor: float) -> "Tally":
        """Of so many times the blocks: what is of one warp or one operation stays.

        factor: at least 0.
        """
        summed = (each.name for each in fields(self) if each.name not in _OF_ONE)
        return replace(self, **{name: round(factor * getattr(self, name)) for name in summed})


class Tallying:
    """Adds up the operations of launches, piece by piece, of warps one after another."""

    def __init__(self, launches: int, fewest: Integers | None = None, stores: bool = False) -> None:
        """Without `fewest` and `stores`, `uncoalesced` and `waits` mean nothing.

        fewest: int64[launches], the chunks that a coalesced operation of each lists.
        stores: whether a store is waited for.
        launches: how many launches there are.
        """
        self._rows = np.zeros((launches, len(Counts)), np.int64)
        self._fewest = np.full(launches, _NONE_FEWER) if fewest is None else fewest
        self._stores = int(stores)
        self._state = np.zeros(len(State), np.int64)

    def add(
        self,
        launch: int,
        kind: npt.NDArray[np.uint8],
        amount: Integers,
        of_warps: Integers,
        goes_on: bool = False,
    ) -> None:
        """Add warps of a launch.

        of_warps: int64[warps], how many operations each has.
        goes_on: whether the last of them has more, with which the next piece begins.
        launch: its number, from 0 on.
        kind, amount: uint8[operations] and int64[operations] of these warps, as in Workload.
        """
        fewest = int(self._fewest[launch])
        _ADD(kind, amount, of_warps, fewest, self._stores, int(goes_on), self._state, self._rows[launch])

    def finish(self) -> tuple[Tally, ...]:
        """Of each launch."""
        names = [item.name for item in fields(Tally)][: Counts.upper_issued]
        return tuple(
            Tally(
                **dict(zip(names, row.tolist(), strict=False)),
                issued=_wide(row, Counts.upper_issued),
                paused=_wide(row, Counts.upper_paused),
                conflicts=int(row[Counts.conflicts]),
            )
            for row in self._rows
        )


def _wide(row: Integers, column: Any) -> int:
    """A sum in two columns."""
    return (int(row[column]) << 32) + int(row[column + 1])


@inlined
def add_wide(row, column, amount):  # type: ignore[no-untyped-def]
    """Add an amount that may be large to a sum in two columns."""
    row[column] += amount >> 32
    row[column + 1] += amount & 0xFFFFFFFF


def add_warps(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0915 - a compiled loop: a case for each kind of operation
    kind, amount, of_warps, fewest, stores, goes_on, state: Annotated[Any, State], row: Annotated[Any, Counts]
):
    """Add operations to a launch's row. state: of the first warp, zeros where it begins.

    Time is in units of L. An async is over one behind that in which it begins, so those that a warp waits for at all
    are those that have begun since its time went on last.
    """
    at = np.int64(0)
    warps = of_warps.shape[0]
    for warp in range(warps):
        now = state.now
        asyncs = state.begun
        pending = state.pending
        for operation in range(at, at + of_warps[warp]):
            what = np.int64(kind[operation])
            count = amount[operation]
            least = np.int64(1)
            if what == SHARED:
                least += count >> PASSES_SHIFT
                count = (count & LISTED) + 1 - least  # what is no conflict is one instruction
            if what in (COMPUTE, SHARED) or what >= OF_CLASS:
                add_wide(row, Counts.upper_issued, count)
                if what != SHARED:
                    row.longest_compute = max(row.longest_compute, count)
                else:
                    row.conflicts += count - 1
            elif what <= COPY:
                count &= LISTED
                row.chunks += count
                row.memory += 1
                row.lower_issued += 1
                if count > fewest:
                    row.uncoalesced += 1
                    row.uncoalesced_chunks += count
                if what == ASYNC:
                    asyncs += 1
                elif what not in (REDUCE, COPY) and (what != STORE or stores != 0):
                    now += 1
                    pending = asyncs
                if what == STORE:
                    row.stored += count
                elif what in (ATOMIC, REDUCE):
                    row.updated += count
            elif what == PAUSE:
                add_wide(row, Counts.upper_paused, count)
            elif GRID_BARRIER <= what <= PRODUCT or what == REMOTE:
                column = Counts.grid_barriers + min(what, np.int64(PRODUCT + 1)) - GRID_BARRIER
                row[column] += 1
            elif GIVE_REGISTERS <= what <= TAKE_REGISTERS:
                row.registers += 1
            elif what in (JOIN, BARRIER) and count < asyncs - pending:
                now += 1
                pending = asyncs
        row.operations += of_warps[warp]
        at += of_warps[warp]
        if goes_on != 0 and warp == warps - 1:
            state.now = now
            state.begun = asyncs
            state.pending = pending
            return
        if asyncs > pending:
            now += 1
        row.asyncs += asyncs
        row.most_asyncs = max(row.most_asyncs, asyncs)
        row.waits = max(row.waits, now)
        state.now = 0
        state.begun = 0
        state.pending = 0


_ADD = Loop(add_warps)
